package advise

import (
	"errors"
	"slices"
	"testing"

	"slackline/analyze/whatif"
	"slackline/model/schedule"
)

// Origins of the graphs of these tests: two functions, calls before and after them.
const (
	solve uint32 = iota + 1
	other
	first
	second
	third
)

func calc(origin uint32, size int64) schedule.Op {
	return schedule.Op{Kind: schedule.Calc, Size: size, Origin: origin}
}

// call is something between computations.
func call(origin uint32) schedule.Op { return calc(origin, 0) }

// graph has the operations of each rank one after the other.
func graph(ranks ...[]schedule.Op) *schedule.Graph {
	build := schedule.NewBuilder(len(ranks))
	for rank, ops := range ranks {
		for _, op := range ops {
			var b schedule.Block
			b.Add(op)
			build.Add(rank, &b)
		}
	}
	build.SetOrigins([]schedule.Origin{{}, {Path: []string{"main", "solve"}}, {Path: []string{"main", "other"}},
		{Call: "MPI_First"}, {Call: "MPI_Second"}, {Call: "MPI_Third"}})
	return build.Graph()
}

// repeats puts a call before and after each computation.
func repeats(sizes ...int64) (ops []schedule.Op) {
	for _, s := range sizes {
		ops = append(ops, call(first), calc(solve, s), call(second))
	}
	return ops
}

func computations(g schedule.Program, rank int) (list []int64) {
	var b schedule.Block
	for step := range g.Steps(rank) {
		g.Block(rank, step, &b)
		for _, op := range b.Ops {
			if op.Kind == schedule.Calc && op.Size > 0 {
				list = append(list, op.Size)
			}
		}
	}
	return list
}

// TestRepetitions: what is irregular, and what is left of it with medians. Equal computations are repetitions if the calls before and
// after them are the same.
func TestRepetitions(t *testing.T) {
	inner := schedule.Op{Kind: schedule.Calc, Size: 900, Origin: solve, Context: schedule.InnerContext}
	var before, after []schedule.Op // the same function, but one of the calls around it differs
	for _, long := range []bool{true, false, false, true, false, false, false, true, true, false} {
		c, size := first, int64(10)
		if long {
			c, size = third, 50
		}
		before = append(before, call(c), calc(solve, size), call(second))
		after = append(after, call(second), calc(solve, size), call(c))
	}
	same := func(n int, size int64) []int64 { return slices.Repeat([]int64{size}, n) }
	for _, tc := range []struct {
		name   string
		ops    []schedule.Op
		excess int64
		quiet  []int64
	}{
		{"nothing", nil, 0, nil},
		{"four are too few", repeats(10, 50, 60, 10), 0, []int64{10, 50, 60, 10}},
		{"five", repeats(30, 10, 20, 50, 40), 20 + 10, []int64{30, 10, 20, 30, 30}}, // 50 and 40 end the list: they would recur later than seen
		{"of six, the lower one of the middle", repeats(20, 10, 20, 10, 20, 10), 0, same(6, 10)},
		{"one of nine may recur", repeats(10, 10, 10, 10, 10, 10, 10, 10, 50), 0, same(9, 10)},
		{"one of ten", repeats(10, 10, 10, 10, 10, 10, 10, 10, 10, 50), 40, same(10, 10)},
		{"a quarter more is usual", repeats(8, 8, 8, 8, 8, 8, 8, 8, 8, 10), 0, same(10, 8)},
		{"more than a quarter", repeats(8, 8, 8, 8, 8, 8, 8, 8, 8, 11), 3, same(10, 8)},
		{"another call before", before, 0, []int64{50, 10, 10, 50, 10, 10, 10, 50, 50, 10}},
		{"another call after", after, 0, []int64{50, 10, 10, 50, 10, 10, 10, 50, 50, 10}},
		{"inner operations are no computation", append(repeats(10, 10, 10, 10, 10), inner), 0, append(same(5, 10), 900)},
	} {
		g := graph(tc.ops, repeats(7, 7, 7, 7, 7)) // the other rank is always the same
		was := computations(g, 0)
		if got := irregular(g); got != tc.excess {
			t.Errorf("%s: %d are irregular, want %d", tc.name, got, tc.excess)
		}
		q := quieted(g)
		if got := computations(q, 0); !slices.Equal(got, tc.quiet) || !slices.Equal(computations(q, 1), same(5, 7)) {
			t.Errorf("%s: %v with medians, want %v", tc.name, got, tc.quiet)
		}
		if now := computations(g, 0); !slices.Equal(now, was) {
			t.Errorf("%s: the program itself changed from %v to %v", tc.name, was, now)
		}
	}
}

// TestRegular: events every n-th time, of which the first or the last may be left out.
func TestRegular(t *testing.T) {
	for _, tc := range []struct {
		at   []int
		n    int
		want bool
	}{
		{nil, 100, true},
		{[]int{3}, 9, true}, {[]int{3}, 10, false},
		{[]int{0, 3, 6}, 9, true}, {[]int{2, 5, 8}, 9, true}, {[]int{2, 5}, 9, true},
		{[]int{3, 6, 9}, 13, true}, // neither at 0 nor at 12
		{[]int{3, 6, 9}, 14, false}, {[]int{4, 7, 10}, 11, false}, {[]int{2, 5}, 10, false},
		{[]int{2, 5, 9}, 10, false}, {[]int{1, 5, 8, 11}, 12, false}, {[]int{2, 5, 8, 12}, 13, false},
	} {
		if got := regular(tc.at, tc.n); got != tc.want {
			t.Errorf("at %v of %d: %v", tc.at, tc.n, got)
		}
	}
}

// TestNoiseChanges: without noise there is nothing to remove; co-scheduled noise starts at 0 everywhere, and the scenario before stays.
func TestNoiseChanges(t *testing.T) {
	with := Scenario{Noise: &whatif.Noise{Seed: 7, Offsets: []int64{1, 2}}}
	for _, value := range []string{"removed", "coscheduled"} {
		c := Change{Kind: "noise", Value: value}
		if _, err := (Scenario{}).Apply(t.Context(), c); !errors.Is(err, errNowhere) {
			t.Errorf("%s without noise: %v", value, err)
		}
		x, err := with.Apply(t.Context(), c)
		if err != nil || (x.Noise == nil) != (value == "removed") {
			t.Fatalf("%s: %+v, %v", value, x, err)
		}
		if n := x.Noise; n != nil && (!n.AtZero || n.Offsets != nil || n.Seed != 7) || with.Noise.AtZero || with.Noise.Offsets == nil {
			t.Errorf("%s: %+v, and before it %+v", value, n, with.Noise)
		}
	}
	if _, err := with.Apply(t.Context(), Change{Kind: "noise", Value: "halved"}); err == nil {
		t.Error("noise:halved is possible")
	}
}
