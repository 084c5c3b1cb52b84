package waits

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/unit"
)

func TestExplainFigure3(t *testing.T) {
	r := analyze(t, figure3(), 1)
	e := r.Explain(&r.Waits[1])
	var got []string
	for _, s := range e.Sentences() {
		got = append(got, strings.Repeat("  ", s.Depth)+s.Text)
	}
	want := []string{
		"Rank 2 waited 2s in main/MPI_Recv, because rank 1 sent late: 75.0 % waits of rank 1 in main/MPI_Recv (late sender), 25.0 % excess " +
			"time of rank 1 in main/MPI_Recv.",
		"  Rank 1 waited 1.5s in main/MPI_Recv, because rank 0 sent late: 56.2 % excess time of rank 0 in main/g, 18.8 % excess time of " +
			"rank 0 in main/f.",
		"In the end it is due to 56.2 % main/g on rank 0, 25.0 % main/MPI_Recv on rank 1, 18.8 % main/f on rank 0.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
}

// TestExplanationsAddUp checks that shares of causes sum up to what they explain, and those of roots too.
func TestExplanationsAddUp(t *testing.T) {
	for seed := range runs() / 4 {
		r := analyze(t, randomRun(seed), 1)
		for i := range r.Waits {
			w := &r.Waits[i]
			e := r.Explain(w)
			if e.Amount != w.Amount {
				t.Fatalf("seed %d: explains %v of %v", seed, e.Amount, w.Amount)
			}
			checkExplanation(t, seed, e)
			sum := e.Rest
			for _, root := range e.Roots {
				sum.AddSum(root.Share)
			}
			if sum != e.Amount {
				t.Fatalf("seed %d: roots sum up to %v, want %v", seed, sum, e.Amount)
			}
			e.Sentences()
		}
		for _, s := range r.Largest(3) {
			checkExplanation(t, seed, r.ExplainState(&s))
		}
	}
}

func checkExplanation(t *testing.T, seed uint64, e *Explanation) {
	t.Helper()
	sum := unit.Duration(0)
	for i := range e.Causes {
		c := &e.Causes[i]
		sum += c.Share.Duration()
		if c.Because != nil {
			if c.Because.Amount != c.Share {
				t.Fatalf("seed %d: a cause of %v is explained by %v", seed, c.Share, c.Because.Amount)
			}
			checkExplanation(t, seed, c.Because)
		}
	}
	if sum != e.Amount.Duration() {
		t.Fatalf("seed %d: causes sum up to %v, want %v", seed, sum, e.Amount)
	}
}

// TestRootsOfAllAreTheDelays checks that the roots of all waits together are the delay costs: they follow the
// same causes. Rounding differs by a picosecond per split.
func TestRootsOfAllAreTheDelays(t *testing.T) {
	for seed := range runs() / 8 {
		r := analyze(t, randomRun(seed), 1)
		if r.Cyclic > 0 {
			continue
		}
		var all []charged
		for i := range r.a.states {
			all = append(all, charged{i, unit.SumOf(r.a.states[i].amount)})
		}
		for i := range r.a.idle {
			p := &r.a.idle[i]
			all = append(all, charged{len(r.a.states) + i, unit.SumOf(p.to - p.from).Times(p.workers)})
		}
		x := newExplainer(r.a)
		roots, _ := x.roots(all, unit.Sum{})
		slack := unit.Duration(4 * len(all))
		delays := map[Root]unit.Duration{}
		for i := range r.Delays {
			delays[Root{Place: r.Delays[i].Place}] = r.Delays[i].Sum().Duration()
		}
		for _, root := range roots {
			want := delays[Root{Place: root.Place}]
			if d := root.Share.Duration() - want; d > slack || d < -slack {
				t.Fatalf("seed %d: root %s on rank %d = %v, want %v", seed, r.Paths.Names[root.Path], root.Rank, root.Share, want)
			}
		}
	}
}
