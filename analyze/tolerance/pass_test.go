package tolerance

import (
	"errors"
	"testing"

	"slackline/model/machine"
	"slackline/model/pattern"
)

// TestInterrupt ends a pass in the middle, also while repetitions are followed.
func TestInterrupt(t *testing.T) {
	m, err := machine.Named("xt4")
	if err != nil {
		t.Fatal(err)
	}
	s, n := patternOn(t, m, "skeleton", pattern.Params{Ranks: 8, Iterations: 100})
	asked, last := 0, 1<<30
	stop := errors.New("stop")
	s.Interrupt = func() error {
		if asked++; asked >= last {
			return stop
		}
		return nil
	}
	if _, err := s.Finish(n); err != nil || asked < 10 {
		t.Fatalf("asked %d times, %v", asked, err)
	}
	all := asked
	for last = 1; last <= all; last++ {
		asked = 0
		if _, err := s.Finish(n); !errors.Is(err, stop) {
			t.Errorf("interrupted at question %d of %d: %v", last, all, err)
		}
	}
}
