package tolerance

import (
	"testing"

	"slackline/analyze/tolerance"
	"slackline/model/unit"
)

// An optimum agrees but for the rounding of the solver, 1e-3 or 1e-9 of it, whichever is more; our largest values of the variable are
// rounded down, so that it may be up to 1 above them.
func TestSolverAgrees(t *testing.T) {
	largest := func(x int64) tolerance.Largest { return tolerance.Largest{X: x} }
	any := tolerance.Largest{Unbounded: true}
	for _, tc := range []struct {
		name string
		v    solvedValue
		want bool
	}{
		{"T is equal", solvedValue{isTime: true, optimum: 1000, ours: largest(1000)}, true},
		{"T is rounded", solvedValue{isTime: true, optimum: 1000.0005, ours: largest(1000)}, true},
		{"T is larger", solvedValue{isTime: true, optimum: 1000.002, ours: largest(1000)}, false},
		{"T is smaller", solvedValue{isTime: true, optimum: 999.998, ours: largest(1000)}, false},
		{"a long T is rounded", solvedValue{isTime: true, optimum: 1e13 + 5000, ours: largest(1e13)}, true},
		{"a long T is larger", solvedValue{isTime: true, optimum: 1e13 + 20000, ours: largest(1e13)}, false},
		{"L is rounded down", solvedValue{optimum: 10.9, ours: largest(10)}, true},
		{"L is the next one, rounded", solvedValue{optimum: 11.0005, ours: largest(10)}, true},
		{"L is larger", solvedValue{optimum: 11.01, ours: largest(10)}, false},
		{"L is rounded by the solver", solvedValue{optimum: 9.9995, ours: largest(10)}, true},
		{"L is smaller", solvedValue{optimum: 9.99, ours: largest(10)}, false},
		{"any L", solvedValue{unbounded: true, ours: any}, true},
		{"any L for the solver alone", solvedValue{unbounded: true, ours: largest(10)}, false},
		{"any L for us alone", solvedValue{optimum: 10, ours: any}, false},
	} {
		if got := tc.v.agrees(); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// T is in picoseconds, in femtoseconds if G is varied; a largest L is rounded down, but not for the rounding of the solver.
func TestSolverShows(t *testing.T) {
	for _, tc := range []struct {
		parameter tolerance.Parameter
		v         solvedValue
		want      string
	}{
		{tolerance.L, solvedValue{isTime: true, optimum: 1500.4}, unit.Duration(1500).String()},
		{tolerance.L, solvedValue{isTime: true, optimum: 1500.6}, unit.Duration(1501).String()},
		{tolerance.G, solvedValue{isTime: true, optimum: 1_500_400}, unit.Duration(1500).String()},
		{tolerance.L, solvedValue{optimum: 999.9995}, unit.Duration(1000).String()},
		{tolerance.L, solvedValue{optimum: 999.9}, unit.Duration(999).String()},
		{tolerance.L, solvedValue{optimum: 999.9, unbounded: true}, "any"},
	} {
		s := &solverAnswer{parameter: tc.parameter}
		if got := s.show(&tc.v); got != tc.want {
			t.Errorf("%s, %+v: %s, want %s", tc.parameter, tc.v, got, tc.want)
		}
	}
	if got := lastLine("reading\nno solution\n\n"); got != "no solution" {
		t.Errorf("the last line is %q", got)
	}
}
