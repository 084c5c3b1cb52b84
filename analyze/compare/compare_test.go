package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// runOf returns a run with a run time and the time of one call path.
func runOf(runTime, solve float64) Run {
	r := NewRun(Times)
	r.add(RunTime, "", runTime)
	r.add(Time, "main/solve", solve)
	return r
}

func runsOf(times ...float64) []Run {
	var list []Run
	for _, t := range times {
		list = append(list, runOf(t, t/2))
	}
	return list
}

func TestCompare(t *testing.T) {
	r := Compare([]Run{runOf(2, 1)}, []Run{runOf(3, 1)}, 0.05)
	if len(r.Changes) != 2 || r.Left() != 0 || r.Runs() != [2]int{1, 1} {
		t.Fatalf("%+v", r)
	}
	whole, solve := r.Changes[0], r.Changes[1]
	if whole.Metric != RunTime || whole.Difference != 1 || *whole.Relative != 0.5 || whole.P != nil || !whole.Significant {
		t.Errorf("run time: %+v", whole)
	}
	if solve.Path != "main/solve" || solve.Difference != 0 || solve.Significant {
		t.Errorf("solve: %+v", solve)
	}
}

func TestCompareRepetitions(t *testing.T) {
	r := Compare(runsOf(1, 1.1, 1.2, 1.3), runsOf(2, 2.1, 2.2, 2.3), 0.05)
	if c := r.Changes[0]; c.P == nil || *c.P > 0.05 || !c.Significant {
		t.Errorf("a change in all repetitions is not significant: %+v", c)
	}
	r = Compare(runsOf(1, 2, 1, 2), runsOf(2, 1, 2, 1), 0.05)
	if c := r.Changes[0]; c.Significant {
		t.Errorf("chance is significant: %+v", c)
	}
}

func TestCompareLeavesOutWhatOneSideHas(t *testing.T) {
	a, b := runOf(1, 1), runOf(1, 1)
	b.add(Delay, "main/solve", 1) // a has not measured delays
	if r := Compare([]Run{a}, []Run{b}, 0.05); r.Left() != 1 || len(r.Changes) != 2 {
		t.Errorf("left out %d, %d changes; want 1 and 2", r.Left(), len(r.Changes))
	}
}

// TestNewChange: medians, differences and what is significant, worked out by hand.
func TestNewChange(t *testing.T) {
	relative := func(v float64) *float64 { return &v }
	for _, tc := range []struct {
		name        string
		x, y        []float64
		a, b        float64
		relative    *float64
		p           float64 // below 0: there is none
		significant bool
	}{
		{"one of each", []float64{2}, []float64{3}, 2, 3, relative(0.5), -1, true},
		{"equal", []float64{2}, []float64{2}, 2, 2, relative(0), -1, false},
		{"out of nothing", []float64{0}, []float64{3}, 0, 3, nil, -1, true},
		{"nothing at all", []float64{0}, []float64{0}, 0, 0, relative(0), -1, false},
		{"into nothing", []float64{4}, []float64{0}, 4, 0, relative(-1), -1, true},
		{"one of several", []float64{1, 2, 9}, []float64{2}, 2, 2, relative(0), 1, false},
		{"one and four", []float64{1}, []float64{8, 7, 6, 5}, 1, 6.5, relative(5.5), 2.0 / 5, false},
		{"two of each", []float64{1, 2}, []float64{3, 5}, 1.5, 4, relative(4/1.5 - 1), 2.0 / 6, false},
		{"four of each", []float64{4, 2, 1, 3}, []float64{8, 7, 6, 5}, 2.5, 6.5, relative(1.6), 2.0 / 70, true},
		{"huge", []float64{1e300}, []float64{1e308}, 1e300, 1e308, relative(1e8 - 1), -1, true},
	} {
		x := slices.Clone(tc.x)
		c := newChange(Number{Metric: Time}, tc.x, tc.y, len(tc.x) > 1 || len(tc.y) > 1, 0.05)
		if c.A != tc.a || c.B != tc.b || c.Difference != tc.b-tc.a || c.Significant != tc.significant {
			t.Errorf("%s: %+v", tc.name, c)
		}
		if (c.Relative == nil) != (tc.relative == nil) || c.Relative != nil && math.Abs(*c.Relative-*tc.relative) > 1e-6*max(1, *tc.relative) {
			t.Errorf("%s: relative %v, want %v", tc.name, c.Relative, tc.relative)
		}
		if (c.P == nil) != (tc.p < 0) || c.P != nil && math.Abs(*c.P-tc.p) > 1e-12 {
			t.Errorf("%s: p = %v, want %v", tc.name, c.P, tc.p)
		}
		if !slices.Equal(x, tc.x) {
			t.Errorf("%s: the values were reordered: %v", tc.name, tc.x)
		}
	}
}

// TestChangeString: changes as people read them.
func TestChangeString(t *testing.T) {
	p, grown, shrunk := 0.0286, 0.5, -0.25
	for want, c := range map[string]Change{
		"2s to 3s (+50.0 %)":                 {A: 2, B: 3, Relative: &grown},
		"0 to 1us (new)":                     {B: 1e-6},
		"0 to 1us (new, p = 0.029)":          {B: 1e-6, P: &p},
		"2 to 1.5 (-25.0 %, p = 0.029)":      {A: 2, B: 1.5, Relative: &shrunk, P: &p, Unit: "1"},
		"2 GHz to 1.5 GHz (-25.0 %)":         {A: 2e9, B: 1.5e9, Relative: &shrunk, Unit: "Hz"},
		"2e+12 to 1.5e+12 (-25.0 %)":         {A: 2e12, B: 1.5e12, Relative: &shrunk, Unit: "1"},
		"2e+09s to 3e+09s (+50.0 %)":         {A: 2e9, B: 3e9, Relative: &grown}, // more than fits into picoseconds
		"9.223e+06s to 1.384e+07s (+50.0 %)": {A: 9.223372036854775808e6, B: 1.384e7, Relative: &grown},
		"-2ms to -3ms (+50.0 %)":             {A: -2e-3, B: -3e-3, Relative: &grown},
		"1ps to 2ps (+50.0 %)":               {A: 0.6e-12, B: 1.5e-12, Relative: &grown},
		"0 to 0 (+50.0 %)":                   {A: 0.4e-12, B: -0.4e-12, Relative: &grown},
	} {
		if got := c.String(); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}

// TestCompareOrder: first what concerns the whole run, times before counts, then the largest changes first, whatever their sign; ties
// by name, so that the order does not depend on that of a map.
func TestCompareOrder(t *testing.T) {
	a, b := NewRun(Times), NewRun(Times)
	for _, x := range []struct {
		Number
		a, b float64
	}{
		{Number{Time, "b"}, 5, 4}, {Number{Time, "a"}, 5, 6}, {Number{Delay, "a"}, 1, 2}, {Number{Time, "big"}, 9, 2},
		{Number{RunTime, ""}, 1, 1},
		{Number{UsefulTime, ""}, 1, 3}, {Number{Instructions, ""}, 1e9, 9e9}, {Number{IPC, ""}, 1, 2}, {Number{Frequency, ""}, 1e9, 2e9},
	} {
		a.add(x.Metric, x.Path, x.a)
		b.add(x.Metric, x.Path, x.b)
	}
	want := []Number{{UsefulTime, ""}, {RunTime, ""}, {Instructions, ""}, {IPC, ""}, {Frequency, ""}, {Time, "big"}, {Delay, "a"}, {Time, "a"},
		{Time, "b"}}
	for range 5 {
		var got []Number
		for _, c := range Compare([]Run{a}, []Run{b}, 0.05).Changes {
			got = append(got, c.Number)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("order %v, want %v", got, want)
		}
	}
}

// TestCompareTurnedRound: A against B is B against A with the sign of the differences turned round, and the order of repetitions does
// not matter.
func TestCompareTurnedRound(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 2))
		side := func() []Run {
			var list []Run
			for range 1 + random.IntN(6) {
				list = append(list, runOf(float64(1+random.IntN(9)), float64(random.IntN(3))))
			}
			return list
		}
		before, after := side(), side()
		forth := Compare(before, after, 0.05)
		random.Shuffle(len(before), func(i, j int) { before[i], before[j] = before[j], before[i] })
		back := Compare(after, before, 0.05)
		if len(forth.Changes) != 2 || len(back.Changes) != 2 {
			t.Fatalf("seed %d: %d and %d changes", seed, len(forth.Changes), len(back.Changes))
		}
		for i, x := range forth.Changes {
			y := back.Changes[i]
			if x.Number != y.Number || x.A != y.B || x.B != y.A || x.Difference != -y.Difference || x.Significant != y.Significant ||
				(x.P == nil) != (y.P == nil) || x.P != nil && math.Abs(*x.P-*y.P) > 1e-12 {
				t.Errorf("seed %d: %+v, turned round %+v", seed, x, y)
			}
		}
	}
}

// TestCompareMeasuredZero: a call path that one side does not mention took no time there, if that side measured call paths.
func TestCompareMeasuredZero(t *testing.T) {
	with, without := runOf(1, 1), NewRun(Times)
	without.add(RunTime, "", 1)
	r := Compare([]Run{without}, []Run{with}, 0.05)
	if c := r.Changes[1]; r.Left() != 0 || c.Path != "main/solve" || c.A != 0 || c.B != 1 || c.Relative != nil {
		t.Errorf("%+v", r)
	}
	without.Kinds = Waits
	if r := Compare([]Run{without}, []Run{with}, 0.05); r.Left() != 1 || len(r.Changes) != 1 {
		t.Errorf("not measured: %+v", r)
	}
	if r := Compare(nil, []Run{with}, 0.05); r.Left() != 2 || len(r.Changes) != 0 || r.Runs() != [2]int{0, 1} {
		t.Errorf("without runs: %+v", r)
	}
	// Of repetitions, those that did not measure it do not count.
	if c := Compare(runsOf(5e-324), runsOf(1), 0.05).Changes[0]; c.Relative != nil || !strings.HasSuffix(c.String(), "(new)") {
		t.Errorf("from nearly 0: %s, relative %v; JSON has no infinity", &c, c.Relative)
	}
	r = Compare([]Run{without, with, with}, []Run{with}, 0.05)
	if c := r.Changes[1]; c.A != 1 || c.Difference != 0 {
		t.Errorf("measured by two of three: %+v", c)
	}
}
