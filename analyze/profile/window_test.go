package profile

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// randomCalls makes a run of a master and a worker with so many calls each; the worker takes part in teams.
func randomCalls(seed uint64, calls int) *timeline.Timeline {
	rnd := rand.New(rand.NewPCG(seed, 1))
	b := timeline.NewBuilder(1)
	var regions []timeline.RegionID
	for i := range 5 {
		regions = append(regions, b.Region(timeline.Region{Name: fmt.Sprint("f", i)}))
	}
	master, worker := b.Location(0, 0, "", ""), b.Location(0, 1, "", "")
	now := unit.Duration(0)
	play := func(l *timeline.LocationBuilder, n int, begin unit.Duration) unit.Duration {
		now, depth := begin, 0
		for n > 0 || depth > 0 {
			now += unit.Duration(rnd.IntN(4))
			if n > 0 && (depth == 0 || depth < 6 && rnd.IntN(2) == 0) {
				l.Enter(now, regions[rnd.IntN(len(regions))])
				depth++
				n--
			} else {
				l.Leave(now)
				depth--
			}
		}
		return now
	}
	for calls > 0 {
		n := min(1+rnd.IntN(calls), calls)
		calls -= n
		now = play(master, n, now)
		master.Enter(now, regions[0])
		master.Fork(now)
		begin := now + unit.Duration(rnd.IntN(3))
		master.TeamBegin(begin)
		worker.TeamBegin(begin)
		end := play(worker, n, begin)
		worker.TeamEnd(end)
		now = max(play(master, 3, begin), end)
		master.TeamEnd(now)
		now += unit.Duration(rnd.IntN(3))
		master.Join(now)
		master.Leave(now)
	}
	return b.Finish(1)
}

// pathsByTime says for every picosecond in which path a location is.
func pathsByTime(tl *timeline.Timeline, paths *Paths, location int32) []int32 {
	at := make([]int32, tl.End)
	for i := range tl.Teams {
		t := &tl.Teams[i]
		for _, m := range t.Members {
			for k := t.Fork; m.Location == location && location != t.Master && k < t.Join; k++ {
				at[k] = paths.Of[t.Base]
			}
		}
	}
	c := &tl.Locations[location].Calls
	for i := range c.Enter { // inner calls come after outer ones
		for k := c.Enter[i]; k < c.Leave[i]; k++ {
			at[k] = paths.Of[c.Path[i]]
		}
	}
	return at
}

func TestWindows(t *testing.T) {
	for seed, calls := range []int{1, 2, 5, 30, 200, 3000, 9000} {
		tl := randomCalls(uint64(seed), calls)
		paths, err := NewPaths(tl)
		if err != nil {
			t.Fatal(err)
		}
		w := NewWindows(tl, paths, 1)
		sums := NewSums(paths)
		rnd := rand.New(rand.NewPCG(uint64(seed), 2))
		for l := range int32(len(tl.Locations)) {
			at := pathsByTime(tl, paths, l)
			enter := tl.Locations[l].Calls.Enter
			for range 200 {
				from := unit.Duration(rnd.Int64N(int64(tl.End)))
				to := from + unit.Duration(rnd.Int64N(int64(tl.End-from)+1))
				before := firstAfter(enter, to-1, int32(len(enter)))
				want := map[int32]unit.Duration{}
				for k := from; k < to; k++ {
					want[at[k]]++
				}
				sums.Clear()
				w.Add(sums, l, from, to, before)
				got := map[int32]unit.Duration{}
				for _, path := range sums.Touched {
					if d := sums.First(path); d != 0 {
						got[path] = d
					}
				}
				delete(want, 0)
				delete(got, 0)
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("seed %d, location %d: %v..%v = %v, want %v", seed, l, from, to, got, want)
				}
			}
		}
	}
}

// TestProfileAddsUp checks the whole-run profile against the same definition, and its sums.
func TestProfileAddsUp(t *testing.T) {
	for seed := range uint64(20) {
		tl := randomCalls(seed, 100)
		p, err := New(tl, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		want := map[int32]unit.Duration{}
		for l := range int32(len(tl.Locations)) {
			for _, path := range pathsByTime(tl, p.Paths, l) {
				want[path]++
			}
		}
		var visits int64
		for _, e := range p.ByPath {
			if e.Exclusive != want[e.Path] {
				t.Errorf("seed %d: exclusive time of %s = %v, want %v", seed, p.Paths.Names[e.Path], e.Exclusive, want[e.Path])
			}
			visits += e.Visits
			inclusive := e.Exclusive
			for _, child := range p.ByPath {
				if p.Paths.Parent[child.Path] == e.Path {
					inclusive += child.Inclusive
				}
			}
			if e.Inclusive != inclusive {
				t.Errorf("seed %d: inclusive time of %s = %v, want %v", seed, p.Paths.Names[e.Path], e.Inclusive, inclusive)
			}
		}
		if n := int64(tl.Locations[0].Calls.Len() + tl.Locations[1].Calls.Len()); visits != n {
			t.Errorf("seed %d: %d visits, want %d", seed, visits, n)
		}
		c := p.Composition(nil)
		sum := unit.Duration(0)
		for _, part := range c.Parts {
			sum += part.Time
		}
		if sum != c.Total || c.Total != 2*p.RunTime() {
			t.Errorf("seed %d: parts sum up to %v of %v, want %v", seed, sum, c.Total, 2*p.RunTime())
		}
	}
}
