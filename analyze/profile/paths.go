package profile

import (
	"slices"

	"slackline/model/timeline"
)

// Paths numbers the call paths of a run by their names, in ascending byte order. Two paths with the same
// names are one call path, whatever regions they are made of. Number 0 is "in no call".
type Paths struct {
	Names  []string          // by number
	Parent []int32           // by number: the path it is called from
	Region []timeline.Region // by number: where it ends; of number 0: a region without name
	Of     []int32           // by timeline.PathID: its number
}

// NewPaths numbers the call paths of a run. It fails only if a recursion is so deep that the names do not fit
// into memory.
func NewPaths(tl *timeline.Timeline) (*Paths, error) {
	if err := tl.CheckPaths(); err != nil {
		return nil, err
	}
	names := make([]string, len(tl.Paths))
	order := make([]timeline.PathID, 0, len(tl.Paths))
	for id := 1; id < len(tl.Paths); id++ {
		p := tl.Paths[id]
		names[id] = tl.Regions[p.Region].Name
		if p.Parent != 0 {
			names[id] = names[p.Parent] + "/" + names[id]
		}
		order = append(order, timeline.PathID(id))
	}
	slices.SortFunc(order, func(a, b timeline.PathID) int {
		switch {
		case names[a] < names[b]:
			return -1
		case names[a] > names[b]:
			return 1
		}
		return int(a) - int(b)
	})
	p := &Paths{
		Names: []string{""}, Parent: []int32{0}, Region: []timeline.Region{{}},
		Of: make([]int32, len(tl.Paths)),
	}
	first := []timeline.PathID{0}
	for i, id := range order {
		if i == 0 || names[id] != names[order[i-1]] {
			p.Names = append(p.Names, names[id])
			p.Region = append(p.Region, tl.Regions[tl.Paths[id].Region])
			first = append(first, id)
		}
		p.Of[id] = int32(len(p.Names) - 1)
	}
	for _, id := range first[1:] {
		p.Parent = append(p.Parent, p.Of[tl.Paths[id].Parent])
	}
	return p, nil
}

// Len is the number of call paths, number 0 included.
func (p *Paths) Len() int { return len(p.Names) }

// Unrecorded reports whether a call path is time when recording was off.
func (p *Paths) Unrecorded(path int32) bool { return p.Region[path].Role == timeline.Unrecorded }

// Say names a call path in a sentence.
func (p *Paths) Say(path int32) string {
	if path == 0 {
		return "no call"
	}
	return p.Names[path]
}
