package tolerance

import (
	"testing"

	"pgregory.net/rapid"

	"slackline/internal/stat"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// A periodic noise of 10 % on one rank, worked by hand: 100 us of detour at the start of each
// millisecond.
func TestWithNoise(t *testing.T) {
	g, err := schedule.Read("x", []byte("num_ranks 2\nrank 0 {\na: calc 500000\nb: calc 400000\nc: calc 1000000\n}\nrank 1 {\na: calc 7\n"+
		"b: send 1b to 1\nc: recv 1b from 1\nd: calc 0\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Prepare(g, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ms := int64(unit.Millisecond)
	trace, err := noise.NewDetours(ms, []noise.Detour{{Start: 0, Length: ms / 10}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := noise.NewInjection(trace, []int64{0, ms / 2})
	if err != nil {
		t.Fatal(err)
	}
	noisy, err := s.WithNoise(in)
	if err != nil {
		t.Fatal(err)
	}
	want := []int64{600_000, 400_000, 1_200_000, 7, 0, 0, 0}
	var noisyOps []schedule.Op
	noisy.each(func(_ int, op *schedule.Op) { noisyOps = append(noisyOps, *op) })
	for i, w := range want {
		op := noisyOps[i]
		if op.Kind == schedule.Calc && op.Size != w*1000 {
			t.Errorf("operation %d takes %d ns, want %d", i, op.Size/1000, w)
		}
	}
	if s.graph.Ops()[0].Size != 500_000_000 || noisyOps[4].Size != 1 {
		t.Error("the schedule itself, or a message, was changed")
	}
	layout := network(t, s, (&referenceCase{S: 1}).params())
	before, err := s.Evaluate(layout)
	if err != nil {
		t.Fatal(err)
	}
	after, err := noisy.Evaluate(layout)
	if err != nil {
		t.Fatal(err)
	}
	if before.T != 1*unit.Millisecond || after.T != 1200*unit.Microsecond {
		t.Errorf("T = %s without and %s with noise, want 1ms and 1.2ms", before.T, after.T)
	}
	if _, err := s.WithNoise(mustInjection(t, trace, make([]int64, 3))); err == nil {
		t.Error("noise for 3 ranks is taken for 2")
	}
}

func mustInjection(t *testing.T, trace *noise.Detours, offsets []int64) *noise.Injection {
	in, err := noise.NewInjection(trace, offsets)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Of numbers alone, the quantiles are those of internal/stat.
func TestSpreadOfNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Min(0), 1, 50).Draw(t, "values")
		var list []Largest
		for _, v := range values {
			list = append(list, Largest{X: v})
		}
		s := NewSpread(list)
		sorted := stat.Sorted(values)
		for _, q := range []struct {
			percent int
			got     Largest
		}{{0, s.Min}, {5, s.Q05}, {25, s.Q25}, {50, s.Median}, {75, s.Q75}, {95, s.Q95}, {100, s.Max}} {
			if want := stat.QuantileInt(sorted, q.percent, 100); q.got != (Largest{X: want}) {
				t.Fatalf("quantile %d %% = %v, want %d", q.percent, q.got, want)
			}
		}
	})
}

func TestSpreadWithoutNumbers(t *testing.T) {
	none, all := Largest{Infeasible: true}, Largest{Unbounded: true}
	s := NewSpread([]Largest{all, {X: 5}, none, {X: 7}, all})
	if s.Min != none || s.Q05 != none || s.Q25.X != 5 || s.Median.X != 7 || s.Q75 != all || s.Max != all || s.N != 5 {
		t.Errorf("spread %+v", s)
	}
	if !s.Holds(none) || !s.Holds(Largest{X: 100}) || !s.Holds(all) {
		t.Error("the spread does not hold what lies in it")
	}
	one := NewSpread([]Largest{{X: 5}})
	if one.Holds(all) || one.Holds(Largest{X: 4}) || !one.Holds(Largest{X: 5}) {
		t.Error("the spread of one value holds others")
	}
}

// TestSpreadOrder: what is infeasible is smaller than all numbers, what is unbounded larger; the order of the values does not matter.
func TestSpreadOrder(t *testing.T) {
	infeasible, unbounded := Largest{Infeasible: true}, Largest{Unbounded: true}
	at := func(x int64) Largest { return Largest{X: x} }
	for _, tc := range []struct {
		name              string
		values            []Largest
		low, median, high Largest
	}{
		{"one", []Largest{at(7)}, at(7), at(7), at(7)},
		{"two", []Largest{at(10), at(20)}, at(10), at(15), at(20)},
		{"rounded half up", []Largest{at(10), at(11)}, at(10), at(11), at(11)},
		{"unbounded", []Largest{unbounded, at(5), at(3)}, at(3), at(5), unbounded},
		{"infeasible", []Largest{at(5), infeasible, at(3)}, infeasible, at(3), at(5)},
		{"between a number and none", []Largest{at(5), unbounded}, at(5), unbounded, unbounded},
		{"between none and a number", []Largest{infeasible, at(5)}, infeasible, infeasible, at(5)},
		{"all unbounded", []Largest{unbounded, unbounded}, unbounded, unbounded, unbounded},
		{"huge", []Largest{at(0), at(1<<62 - 2)}, at(0), at(1<<61 - 1), at(1<<62 - 2)},
	} {
		s := NewSpread(tc.values)
		if s.Min != tc.low || s.Median != tc.median || s.Max != tc.high || s.N != len(tc.values) {
			t.Errorf("%s: from %v over %v to %v, want %v, %v, %v", tc.name, s.Min, s.Median, s.Max, tc.low, tc.median, tc.high)
		}
		for i := range tc.values {
			other := append(append([]Largest{}, tc.values[i:]...), tc.values[:i]...)
			if NewSpread(other) != s {
				t.Errorf("%s: in the order %v it is %+v", tc.name, other, NewSpread(other))
			}
		}
		if !s.Holds(s.Median) {
			t.Errorf("%s: the median is outside", tc.name)
		}
	}
	s := NewSpread([]Largest{at(0), at(100)})
	for v, want := range map[int64]bool{4: false, 5: true, 95: true, 96: false} {
		if s.Holds(at(v)) != want {
			t.Errorf("%d is within 5 and 95: %v", v, !want)
		}
	}
	if s.Holds(unbounded) || s.Holds(infeasible) {
		t.Error("a value that is not a number is within")
	}
}
