package advise

import (
	"slices"
	"testing"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

func TestRanksInWords(t *testing.T) {
	for _, tc := range []struct {
		ranks []int
		want  string
	}{
		{nil, "no rank"}, {[]int{4}, "rank 4"}, {[]int{4, 5}, "ranks 4 to 5"}, {[]int{0, 1, 2, 3}, "ranks 0 to 3"},
		{[]int{0, 2}, "ranks 0 and 2"},
		{[]int{1, 3, 4}, "ranks 1, 3 and 4"}, {[]int{0, 2, 4, 6, 8, 10}, "ranks 0, 2, 4, 6, 8 and 10"},
		{[]int{1, 3, 5, 7, 9, 11, 13}, "7 ranks, the first is 1"},
	} {
		if got := ranksInWords(tc.ranks); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.ranks, got, tc.want)
		}
	}
}

// TestHeavy: ranks that have more than half way from the mean to the most.
func TestHeavy(t *testing.T) {
	for _, tc := range []struct {
		times []unit.Duration
		want  string
	}{
		{[]unit.Duration{100, 100, 100, 400}, "rank 3"},
		{[]unit.Duration{5}, "rank 0"},
		{[]unit.Duration{7, 7, 7}, "ranks 0 to 2"},
		{[]unit.Duration{0, 0, 0}, "ranks 0 to 2"},
		{[]unit.Duration{10, 0, 8, 0}, "ranks 0 and 2"}, // the mean is 4, half way to 10 is 7
	} {
		c := &computation{byRank: tc.times}
		for _, d := range tc.times {
			c.mean, c.max = c.mean+d, max(c.max, d)
		}
		c.mean /= unit.Duration(len(tc.times))
		if got := c.heavy(); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.times, got, tc.want)
		}
	}
}

func TestPlace(t *testing.T) {
	s := &study{}
	if s.place("") != "the program" || s.place("main/f`") != "`main/f'`" {
		t.Errorf("%s, %s", s.place(""), s.place("main/f`"))
	}
	s.source = func(path string) string { return map[string]string{"main": "m.c:3"}[path] }
	if s.place("main") != "`main` (m.c:3)" || s.place("other") != "`other`" {
		t.Errorf("%s, %s", s.place("main"), s.place("other"))
	}
	if parentOf("a/b/c") != "a/b" || parentOf("a") != "" || capital("rank 3") != "Rank 3" {
		t.Errorf("%s, %s, %s", parentOf("a/b/c"), parentOf("a"), capital("rank 3"))
	}
}

// TestShared: ranks that all compute in the same functions can share their work; what takes a thousandth of the run does not count.
func TestShared(t *testing.T) {
	both := []schedule.Op{calc(solve, 500), calc(other, 500)}
	for _, tc := range []struct {
		name, path string
		ranks      [2][]schedule.Op
		want       bool
	}{
		{"one function", "main/solve", [2][]schedule.Op{both, {calc(other, 500)}}, true},
		{"both", "main", [2][]schedule.Op{both, both}, true},
		{"one has one of two", "main", [2][]schedule.Op{both, {calc(other, 500)}}, false},
		{"the other one", "main", [2][]schedule.Op{{calc(solve, 500)}, both}, false},
		{"different ones", "main", [2][]schedule.Op{{calc(solve, 500)}, {calc(other, 500)}}, false},
		{"one is too short to count", "main", [2][]schedule.Op{{calc(solve, 500)}, {calc(solve, 500), calc(other, 10)}}, true},
		{"one is just long enough", "main", [2][]schedule.Op{{calc(solve, 500)}, {calc(solve, 500), calc(other, 11)}}, false},
		{"calls are no computation", "", [2][]schedule.Op{{calc(solve, 500)}, {calc(solve, 500), send(0)}}, true},
	} {
		g := graph(tc.ranks[0], tc.ranks[1])
		s := &study{graph: g, base: Scenario{Program: g}, runTime: 10_000}
		if got := s.shared(tc.path); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

// TestBalanceProposals: call paths in which a rank has more than the mean, each with the share of its critical time that is above it.
func TestBalanceProposals(t *testing.T) {
	us := int64(unit.Microsecond)
	g := graph([]schedule.Op{calc(solve, 30*us), calc(other, 20*us)}, []schedule.Op{calc(solve, 10*us), calc(other, 20*us)})
	for _, tc := range []struct {
		grid []int
		want []string
	}{
		// Of 30 us in solve, 10 are above the mean: a third of what is critical; of all 50 us, 10 are: a fifth of 45. other is balanced.
		{nil, []string{"balance:even@main 9us", "balance:cap@main 9us", "balance:even@main/solve 10us", "balance:cap@main/solve 10us",
			"balance:even 9us", "balance:cap 9us"}},
		{[]int{2, 1}, []string{"balance:even@main 9us", "balance:neighbors@main 9us", "balance:columns@main 9us", "balance:cap@main 9us",
			"balance:even@main/solve 10us", "balance:neighbors@main/solve 10us", "balance:columns@main/solve 10us", "balance:cap@main/solve 10us",
			"balance:even 9us", "balance:neighbors 9us", "balance:columns 9us", "balance:cap 9us"}},
	} {
		s := &study{graph: g, base: Scenario{Program: g, Grid: tc.grid}, runTime: unit.Duration(50 * us), sums: map[string]*computation{},
			result: &waits.Result{Paths: &profile.Paths{Region: make([]timeline.Region, 3)}},
			critical: &waits.CriticalPath{Paths: []waits.CriticalTime{
				{Path: 1, CallPath: "main/solve", Time: 30 * unit.Microsecond}, {Path: 2, CallPath: "main/other", Time: 15 * unit.Microsecond}}}}
		var got []string
		for _, c := range balanceKind.propose(s) {
			got = append(got, c.change.String()+" "+c.bound.Short())
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("grid %v: %v, want %v", tc.grid, got, tc.want)
		}
		for target, want := range map[string]string{
			"main/solve": "Balance the computation of `main/solve`, which takes 10us to 30us on a rank (the mean is 20us), most on rank 0: " +
				"spread evenly over the ranks, it",
			"": "Balance all computation together, which takes 30us to 50us on a rank (the mean is 40us), most on rank 0: " +
				"spread evenly over the ranks, it",
		} {
			if got := balanceKind.sentence(s, Change{"balance", "even", target}); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}
