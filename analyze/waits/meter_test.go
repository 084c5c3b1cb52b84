package waits

import (
	"slices"
	"testing"
)

// An analysis tells how far it is while it reads messages and while it looks for causes, never less than before, nearly up to its end.
func TestProgress(t *testing.T) {
	tl, _ := haloRun(16, 60)
	var said []float64
	r, err := Analyze(t.Context(), tl, Options{Threads: 1, Progress: func(done float64) { said = append(said, done) }})
	if err != nil {
		t.Fatal(err)
	}
	early := slices.IndexFunc(said, func(done float64) bool { return done > messagesDone })
	if early < len(tl.Locations) || len(said)-early < len(r.a.states)/stateChunk-1 || !slices.IsSorted(said) || said[len(said)-1] < 0.9 ||
		said[len(said)-1] > 1 {
		t.Errorf("of %d locations and %d states it reported %d times while it read messages and %d times later, at last %v",
			len(tl.Locations), len(r.a.states), early, len(said)-early, said[max(len(said)-1, 0)])
	}
}
