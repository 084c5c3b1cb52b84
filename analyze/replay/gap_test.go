package replay

import (
	"math"
	"slices"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// TestGap: times are summed by path in the order of first use, also when the stamps of cleared gaps are used up.
func TestGap(t *testing.T) {
	g := &gap{slots: make([]gapSlot, 5), stamp: math.MaxUint32 - 1}
	for round := range 4 {
		g.clear()
		g.add(3, 10)
		g.add(1, 5)
		g.add(3, 7)
		if !slices.Equal(g.paths, []timeline.PathID{3, 1}) || !slices.Equal(g.times, []unit.Duration{17, 5}) || g.total() != 22 {
			t.Errorf("round %d: %v, %v, %v", round, g.paths, g.times, g.total())
		}
	}
	dropped := g.drop(func(p timeline.PathID) bool { return p == 3 })
	if dropped != 17 || !slices.Equal(g.paths, []timeline.PathID{1}) || g.total() != 5 {
		t.Errorf("dropped %v, left %v", dropped, g.paths)
	}
	if dropped := g.drop(func(timeline.PathID) bool { return true }); dropped != 5 || len(g.paths) != 0 || g.total() != 0 {
		t.Errorf("dropped %v, left %v", dropped, g.paths)
	}
}
