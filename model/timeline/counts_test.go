package timeline

import (
	"slices"
	"testing"

	"slackline/model/unit"
)

// TestCounts: what a metric grows by belongs to the call that was open until then, whether its value is recorded before or after the
// start or end of the next call; a window keeps what grew inside.
func TestCounts(t *testing.T) {
	for _, before := range []bool{true, false} {
		b := NewBuilder(1)
		main, work := b.Region(Region{Name: "main"}), b.Region(Region{Name: "work"})
		b.Metric(Metric{Name: "cycles"})
		b.Metric(Metric{Name: "faults"})
		l := b.Location(0, 0, "", "")
		step := func(f func(), at int64, cycles, faults uint64) {
			if !before {
				f()
			}
			l.Count(unit.Duration(at), 0, cycles)
			l.Count(unit.Duration(at), 1, faults)
			if before {
				f()
			}
		}
		step(func() { l.Enter(0, main) }, 0, 1000, 1)
		step(func() { l.Enter(10, work) }, 10, 1100, 1)
		step(func() { l.Leave(30) }, 30, 1700, 4)
		step(func() { l.Enter(40, work) }, 40, 1710, 4)
		step(func() { l.Leave(50) }, 50, 1720, 4)
		l.MissCounts()
		step(func() { l.Leave(60) }, 60, 999, 99)
		l.ThreadEnd(60)
		l.ThreadBegin(70)
		step(func() { l.Event(70) }, 70, 5, 5)
		step(func() { l.Event(80) }, 80, 5, 4)
		tl := b.Finish(1)
		want := []string{"1 values of counters below the ones before, from which they count anew (on rank 0)"}
		if got := tl.Problems.Notes; !slices.Equal(got, want) {
			t.Errorf("notes %q, want %q", got, want)
		}
		sum := func(tl *Timeline) (sums [3][2]uint64) { // by depth of the path
			for _, c := range tl.Locations[0].Counts {
				sums[tl.Paths[c.Path].Depth][c.Metric] += c.Value
			}
			return sums
		}
		if got, want := sum(tl), [3][2]uint64{{}, {110, 0}, {610, 3}}; got != want {
			t.Errorf("values before their calls: %t: %v, want %v", before, got, want)
		}
		if got, want := sum(tl.Window(10, 40, 1)), [3][2]uint64{{}, {10, 0}, {600, 3}}; got != want {
			t.Errorf("values before their calls: %t: %v in the window, want %v", before, got, want)
		}
		if got, want := sum(tl.Window(20, 25, 1)), [3][2]uint64{{}, {}, {150, 1}}; got != want {
			t.Errorf("values before their calls: %t: %v in a quarter of a call, want %v", before, got, want)
		}
		tl.Shift(1000, 1)
		if !slices.IsSortedFunc(tl.Locations[0].Counts, func(a, b Increment) int { return int(a.To - b.To) }) ||
			tl.Locations[0].Counts[0].Span != (Span{1000, 1010}) {
			t.Errorf("shifted by 1000: %v", tl.Locations[0].Counts)
		}
	}
}
