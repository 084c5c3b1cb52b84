package replay

import (
	"slackline/model/timeline"
	"slackline/model/unit"
)

// gap is the computation between two MPI calls, by call path in the order of first use.
type gap struct {
	paths []timeline.PathID
	times []unit.Duration
	slots []gapSlot // by path
	stamp uint32
}

// gapSlot is the place of a path in the lists, if the stamp is the gap's.
type gapSlot struct{ stamp, at uint32 }

// clear empties the gap.
func (g *gap) clear() {
	g.paths, g.times = g.paths[:0], g.times[:0]
	if g.stamp++; g.stamp == 0 {
		clear(g.slots)
		g.stamp = 1
	}
}

// add adds time of a path.
func (g *gap) add(path timeline.PathID, d unit.Duration) {
	s := &g.slots[path]
	if s.stamp == g.stamp {
		g.times[s.at] += d
		return
	}
	*s = gapSlot{g.stamp, uint32(len(g.paths))}
	g.paths = append(g.paths, path)
	g.times = append(g.times, d)
}

// total is the time of all paths.
func (g *gap) total() unit.Duration {
	sum := unit.Duration(0)
	for _, d := range g.times {
		sum += d
	}
	return sum
}

// drop takes the time of some paths away and returns it. The gap must not be added to afterwards.
func (g *gap) drop(unwanted func(timeline.PathID) bool) unit.Duration {
	keep, sum := 0, unit.Duration(0)
	for i, path := range g.paths {
		if unwanted(path) {
			sum += g.times[i]
			continue
		}
		g.paths[keep], g.times[keep] = path, g.times[i]
		keep++
	}
	g.paths, g.times = g.paths[:keep], g.times[:keep]
	return sum
}
