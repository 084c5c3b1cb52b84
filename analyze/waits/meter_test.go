package waits

import (
	"slices"
	"testing"
)

// An analysis tells how far it is while it reads messages and while it looks for causes, never less than before, nearly up to its end.
func TestProgress(t *testing.T) {
	tl, _ := haloRun(16, 60)
	var reported []float64
	r, err := Analyze(t.Context(), tl, Options{Threads: 1, Progress: func(done float64) { reported = append(reported, done) }})
	if err != nil {
		t.Fatal(err)
	}
	early := slices.IndexFunc(reported, func(done float64) bool { return done > messagesDone })
	if early < len(tl.Locations) || len(reported)-early < len(r.a.states)/stateChunk-1 || !slices.IsSorted(reported) || reported[len(reported)-1] < 0.9 ||
		reported[len(reported)-1] > 1 {
		t.Errorf("of %d locations and %d states it reported %d times while it read messages and %d times later, at last %v",
			len(tl.Locations), len(r.a.states), early, len(reported)-early, reported[max(len(reported)-1, 0)])
	}
}
