package advise

import (
	"slices"
	"testing"

	"slackline/model/schedule"
	"slackline/model/unit"
)

func TestGainOf(t *testing.T) {
	for _, tc := range []struct {
		before, after unit.Duration
		want          float64
	}{{100, 75, 0.25}, {100, 100, 0}, {100, 150, -0.5}, {100, 0, 1}, {0, 5, 0}, {0, 0, 0}, {1 << 62, 1 << 61, 0.5}} {
		if got := gainOf(tc.before, tc.after); got != tc.want {
			t.Errorf("from %d to %d: %g, want %g", tc.before, tc.after, got, tc.want)
		}
	}
}

// TestSupersedes: of two changes that do the same, one is enough. No two changes make each other superfluous.
func TestSupersedes(t *testing.T) {
	at := func(kind, value, target string, gain float64) Advice {
		c := Change{kind, value, target}
		return Advice{Change: c, Text: c.String(), Gain: gain}
	}
	for _, tc := range []struct {
		name string
		a, b Advice
		want bool
	}{
		{"a better value", at("algorithm", "ring", "x", 0.3), at("algorithm", "tree", "x", 0.2), true},
		{"a worse value", at("algorithm", "ring", "x", 0.2), at("algorithm", "tree", "x", 0.3), false},
		{"equal gains, the shorter one", at("algorithm", "ring", "x", 0.2), at("algorithm", "binomial", "x", 0.2), true},
		{"equal gains, the longer one", at("algorithm", "binomial", "x", 0.2), at("algorithm", "ring", "x", 0.2), false},
		{"another place", at("algorithm", "ring", "x", 0.3), at("algorithm", "ring", "y", 0.1), false},
		{"another kind", at("combine", "", "x", 0.3), at("nonblocking_send", "", "x", 0.1), false},
		{"an algorithm of one collective is nearly as good as a mapping", at("algorithm", "ring", "x", 0.25), at("mapping", "m", "", 0.3), true},
		{"a mapping is much better", at("algorithm", "ring", "x", 0.2), at("mapping", "m", "", 0.3), false},
		{"to balance a part is nearly as good", at("balance", "even", "main/solve", 0.25), at("balance", "even", "main", 0.3), true},
		{"to balance a part is nearly as good as all", at("balance", "even", "main/solve", 0.25), at("balance", "even", "", 0.3), true},
		{"to balance a part is less", at("balance", "even", "main/solve", 0.2), at("balance", "even", "main", 0.3), false},
		{"to balance the whole is more", at("balance", "even", "main", 0.3), at("balance", "even", "main/solve", 0.2), true},
		{"the whole is not much more", at("balance", "even", "main", 0.3), at("balance", "even", "main/solve", 0.25), false},
		{"a name that only begins the same", at("balance", "even", "main", 0.3), at("balance", "even", "mainly/solve", 0.1), false},
		{"other sources of noise", at("noise", "removed", "", 0.3), at("noise", "median", "", 0.1), false},
	} {
		if got := supersedes(&tc.a, &tc.b); got != tc.want {
			t.Errorf("%s: %s (%g) supersedes %s (%g): %v", tc.name, tc.a.Text, tc.a.Gain, tc.b.Text, tc.b.Gain, got)
		}
		if tc.want && supersedes(&tc.b, &tc.a) {
			t.Errorf("%s: each supersedes the other", tc.name)
		}
	}
}

// TestCommand: changes are added to the words of the command, quoted for the shell.
func TestCommand(t *testing.T) {
	q := &Question{Words: []string{"slackline", "simulate", "my run.trace"}}
	want := "slackline simulate 'my run.trace' --change combine@main/MPI_Send --change 'balance:even@a b'"
	if got := q.command("combine@main/MPI_Send", "balance:even@a b"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(q.Words) != 3 {
		t.Errorf("the words are now %q", q.Words)
	}
}

// TestWeight: a change that assumes something counts with half of its gain.
func TestWeight(t *testing.T) {
	if sure, perhaps := (&Advice{Gain: 0.2}), (&Advice{Gain: 0.3, Assumes: "x"}); sure.weight() != 0.2 || perhaps.weight() != 0.15 {
		t.Errorf("%g and %g", sure.weight(), perhaps.weight())
	}
}

// TestGrant: the effort is given out once.
func TestGrant(t *testing.T) {
	s := &search{tries: 10}
	if a, b, c := s.grant(4), s.grant(7), s.grant(1); a != 4 || b != 6 || c != 0 {
		t.Errorf("%d, %d and %d of 10", a, b, c)
	}
}

func TestHalfSpread(t *testing.T) {
	for _, tc := range []struct {
		times []unit.Duration
		want  float64
	}{{nil, 0}, {[]unit.Duration{7}, 0}, {[]unit.Duration{0, 0}, 0}, {[]unit.Duration{30, 10, 20}, 0.5}, {[]unit.Duration{0, 4}, 1}} {
		if got := halfSpread(tc.times); got != tc.want {
			t.Errorf("%v = %g, want %g", tc.times, got, tc.want)
		}
	}
}

// TestPerfectBalance: means of each call path, and what a rank does not have on top of what it has. All have the same sum then.
func TestPerfectBalance(t *testing.T) {
	for _, tc := range []struct {
		ranks, want [][]int64 // computation of solve, of solve again, and of other
	}{
		{[][]int64{{100, 300}, {500, 300}}, [][]int64{{150, 450}, {375, 225}}}, // 600 on both
		// solve takes 150 in the mean, other 150, which the first rank does not have: 300 for solve alone.
		{[][]int64{{100, 100}, {100, 0, 300}}, [][]int64{{150, 150}, {150, 150}}},
		// A rank that computes nothing takes over nothing: means of 100 and 100.
		{[][]int64{{100, 100}, {100, 0, 300}, {}}, [][]int64{{100, 100}, {100, 100}, nil}},
		{[][]int64{{3}, {4}}, [][]int64{{4}, {4}}}, // 3.5 is rounded
	} {
		var ops [][]schedule.Op
		for _, sizes := range tc.ranks {
			var list []schedule.Op
			for i, size := range sizes {
				list = append(list, calc([]uint32{solve, solve, other}[i], size), call(first))
			}
			ops = append(ops, list)
		}
		g := graph(ops...)
		p := perfectBalance(g)
		for rank, want := range tc.want {
			if got := computations(p, rank); !slices.Equal(got, want) {
				t.Errorf("%v, rank %d: %v, want %v", tc.ranks, rank, got, want)
			}
			if p.Steps(rank) != 2*len(tc.ranks[rank]) {
				t.Errorf("%v, rank %d: %d blocks", tc.ranks, rank, p.Steps(rank))
			}
		}
		if tc.ranks[0][0] != computations(g, 0)[0] {
			t.Errorf("%v: the program itself changed", tc.ranks)
		}
	}
}
