package profile

import (
	"math"
	"slices"
	"testing"
)

// TestSums: the second column takes only the paths of the first one.
func TestSums(t *testing.T) {
	s := NewSums(&Paths{Names: make([]string, 4)})
	for round := range 3 {
		s.Add(2, 10)
		s.Add(2, 5)
		s.Subtract(1, 4)
		s.Second()
		s.Add(2, 6)
		s.Add(3, 100) // not in the first column
		s.Subtract(2, 1)
		if s.First(2) != 15 || s.Excess(2) != 10 || s.First(1) != -4 || s.Excess(1) != -4 {
			t.Errorf("round %d: %v", round, s.cells)
		}
		if slices.Sort(s.Touched); !slices.Equal(s.Touched, []int32{1, 2}) {
			t.Errorf("round %d: paths %v", round, s.Touched)
		}
		s.Clear()
		if len(s.Touched) != 0 {
			t.Errorf("round %d: paths %v after clearing", round, s.Touched)
		}
	}
}

// TestSumsAreClearedForEver: when the rounds are used up and start again, nothing of the first ones comes back.
func TestSumsAreClearedForEver(t *testing.T) {
	s := NewSums(&Paths{Names: make([]string, 2)})
	s.Add(1, 7) // in round 1
	s.round = math.MaxUint32
	s.Clear()
	if s.Add(1, 3); s.First(1) != 3 || !slices.Equal(s.Touched, []int32{1}) {
		t.Errorf("%v of %v, want 3", s.First(1), s.Touched)
	}
	s.Clear()
	s.Second()
	if s.Add(1, 9); len(s.Touched) != 0 {
		t.Errorf("the second column brought %v", s.Touched)
	}
}
