package profile

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// randomCalls makes a run of a master and a worker with so many calls each; the worker takes part in teams.
func randomCalls(seed uint64, calls int) *timeline.Timeline { return randomLacks(seed, calls, 0) }

// randomLacks is randomCalls with times without a CPU, at one of so many events; 0: at none.
func randomLacks(seed uint64, calls, lacks int) *timeline.Timeline {
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
			if lacks > 0 && rnd.IntN(lacks) == 0 {
				l.NoCPU(now, unit.Duration(rnd.IntN(9)))
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
	for _, lack := range tl.Locations[location].NoCPU {
		for k := lack.From; k < lack.To; k++ {
			at[k] = paths.Of[lack.Path]
		}
	}
	return at
}

func TestWindows(t *testing.T) {
	for seed, calls := range []int{1, 2, 5, 30, 200, 3000, 9000} {
		for _, lacks := range []int{0, 5} {
			tl := randomLacks(uint64(seed), calls, lacks)
			paths, err := NewPaths(tl)
			if err != nil {
				t.Fatal(err)
			}
			w := NewWindows(tl, paths, 1)
			rnd := rand.New(rand.NewPCG(uint64(seed), 2))
			for l := range int32(len(tl.Locations)) {
				if diff := checkWindows(rnd, w, l, pathsByTime(tl, paths, l)); diff != "" {
					t.Fatalf("seed %d, lacks %d, location %d: %s", seed, lacks, l, diff)
				}
			}
		}
	}
}

// checkWindows compares windows of a location with the path at every picosecond.
func checkWindows(rnd *rand.Rand, w *Windows, location int32, at []int32) (diff string) {
	enter, end := w.tl.Locations[location].Calls.Enter, int64(w.tl.End)
	sums := NewSums(w.paths)
	for range 200 {
		from := unit.Duration(rnd.Int64N(end))
		to := from + unit.Duration(rnd.Int64N(end-int64(from)+1))
		before := firstAfter(enter, to-1, int32(len(enter)))
		want := map[int32]unit.Duration{}
		for k := from; k < to; k++ {
			want[at[k]]++
		}
		sums.Clear()
		w.Add(sums, location, from, to, before)
		got := map[int32]unit.Duration{}
		for _, path := range sums.Touched {
			if d := sums.First(path); d != 0 {
				got[path] = d
			}
		}
		delete(want, 0)
		delete(got, 0)
		if !maps.Equal(got, want) {
			return fmt.Sprintf("%v..%v = %v, want %v", from, to, got, want)
		}
	}
	return ""
}

// TestInnermost: the innermost call at a moment is the last one that has begun and not ended; the call around it is the one before.
func TestInnermost(t *testing.T) {
	for seed := range uint64(20) {
		tl := randomCalls(seed, 1+int(seed)*10)
		paths, err := NewPaths(tl)
		if err != nil {
			t.Fatal(err)
		}
		w := NewWindows(tl, paths, 2)
		for l := range int32(len(tl.Locations)) {
			c := &tl.Locations[l].Calls
			n := int32(c.Len())
			open := func(at unit.Duration, before int32) int32 {
				for i := before - 1; i >= 0; i-- {
					if c.Enter[i] <= at && at < c.Leave[i] {
						return i
					}
				}
				return -1
			}
			for at := unit.Duration(-1); at <= tl.End+1; at++ {
				for _, before := range []int32{n, n / 2, 0} {
					if got, want := w.Innermost(l, at, before), open(at, before); got != want {
						t.Fatalf("seed %d, location %d at %v: call %d is open, want %d of %d", seed, l, at, got, want, before)
					}
				}
			}
			for i := range n {
				around := int32(-1)
				for k := range i {
					if c.Skip[k] > i { // calls from k to before Skip are k and what it called
						around = k
					}
				}
				if got := w.Caller(l, i); got != around {
					t.Fatalf("seed %d, location %d: call %d is around call %d, want %d", seed, l, got, i, around)
				}
			}
		}
	}
}

// TestBefore: just before a moment a location is in the path of the picosecond before it, since the last thing that happened: the start or
// the end of a call, or of a team.
func TestBefore(t *testing.T) {
	for seed := range uint64(20) {
		tl := randomCalls(seed, 1+int(seed)*10)
		paths, err := NewPaths(tl)
		if err != nil {
			t.Fatal(err)
		}
		w := NewWindows(tl, paths, 1)
		for l := range int32(len(tl.Locations)) {
			at := pathsByTime(tl, paths, l)
			c := &tl.Locations[l].Calls
			events := slices.Concat(c.Enter, c.Leave)
			for i := range tl.Teams {
				for _, m := range tl.Teams[i].Members {
					if m.Location == l && l != tl.Teams[i].Master {
						events = append(events, tl.Teams[i].Fork, tl.Teams[i].Join)
					}
				}
			}
			slices.Sort(events)
			for k := unit.Duration(0); k <= tl.End; k++ {
				n, _ := slices.BinarySearch(events, k) // events before k
				path, since, ok := w.Before(l, k)
				if ok != (n > 0) {
					t.Fatalf("seed %d, location %d before %v: %v, but %d events", seed, l, k, ok, n)
				}
				if ok && (path != at[k-1] || since != events[n-1]) {
					t.Fatalf("seed %d, location %d before %v: in %q since %v, want %q since %v", seed, l, k, paths.Names[path], since,
						paths.Names[at[k-1]], events[n-1])
				}
			}
		}
	}
}

// TestProfileAddsUp checks the whole-run profile against the same definition, and its sums.
func TestProfileAddsUp(t *testing.T) {
	for seed := range uint64(20) {
		tl := randomLacks(seed, 100, int(seed%3)*4)
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
			if e.Exclusive != unit.SumOf(want[e.Path]) {
				t.Errorf("seed %d: exclusive time of %s = %v, want %v", seed, p.Paths.Names[e.Path], e.Exclusive, want[e.Path])
			}
			visits += e.Visits
			inclusive := e.Exclusive
			for _, child := range p.ByPath {
				if p.Paths.Parent[child.Path] == e.Path {
					inclusive.AddSum(child.Inclusive)
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
			sum += part.Time.Duration()
		}
		if sum != c.Total.Duration() || c.Total != unit.SumOf(2*p.RunTime()) {
			t.Errorf("seed %d: parts sum up to %v of %v, want %v", seed, sum, c.Total, 2*p.RunTime())
		}
	}
}
