package waits

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"slackline/model/unit"
)

// A rank waits where it sits idle, not in the call around it: MPI_Finalize that was entered twice, or that calls MPI_Barrier, and a
// callback.
func TestWaitsInside(t *testing.T) {
	for _, tc := range []struct {
		name, inside, kind, path string
		want                     unit.Duration
	}{
		{"nothing inside", "", "finalize", "MPI_Finalize", 10},
		{"entered twice", "21..38 MPI_Finalize", "finalize", "MPI_Finalize/MPI_Finalize", 9},
		{"three times", "20 MPI_Finalize {\n23..38 MPI_Finalize\n} 39", "finalize", "MPI_Finalize/MPI_Finalize/MPI_Finalize", 7},
		{"late inside", "24..38 MPI_Finalize", "finalize", "MPI_Finalize/MPI_Finalize", 6},
		{"very late inside", "28..38 MPI_Finalize", "finalize", "MPI_Finalize", 8},
		{"callback", "24..29 callback", "finalize", "MPI_Finalize", 5},
		{"callback first", "20..29 callback", "finalize", "MPI_Finalize", 1},
		{"callbacks", "20..22 callback\n24..25 callback", "finalize", "MPI_Finalize", 7},
		{"only a callback", "20..38 callback", "", "", 0},
		{"between callbacks", "20..22 callback\n24..38 MPI_Finalize", "finalize", "MPI_Finalize/MPI_Finalize", 6},
		{"test", "22..38 MPI_Test", "finalize", "MPI_Finalize", 2},
	} {
		text := fmt.Sprintf("slackline trace 1\nunit ps\nrank 0\n0..20 work\n20 MPI_Finalize {\n%s\n} 39\n"+
			"rank 1\n0..30 work\n30..39 MPI_Finalize\n", tc.inside)
		r := analyzed(t, text)
		if tc.want == 0 {
			if len(r.Waits) != 0 {
				t.Errorf("%s: %+v, want no wait", tc.name, r.Waits)
			}
			continue
		}
		if len(r.Waits) != 1 || r.Waits[0].Metric.String() != tc.kind || r.Paths.Names[r.Waits[0].Path] != tc.path ||
			r.Waits[0].Amount != unit.SumOf(tc.want) {
			t.Errorf("%s: %+v, want %s of %v in %s", tc.name, r.Waits, tc.kind, tc.want, tc.path)
		}
	}
}

// insideProgram is a random run of two ranks whose calls contain others, of MPI and of the program.
func insideProgram(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("slackline trace 1\nunit ms\n")
	bodies := []string{"MPI_Barrier: barrier", "MPI_Allreduce: allreduce sent 8 received 8", "MPI_Send", "callback", "MPI_Finalize"}
	names := make([]string, 8)
	for i := range names {
		names[i] = bodies[r.IntN(len(bodies)-1)]
		if i == len(names)-1 {
			names[i] = bodies[len(bodies)-1]
		}
	}
	for rank := range 2 {
		fmt.Fprintf(&b, "rank %d\n", rank)
		at := 0
		var body func(name string, depth int)
		body = func(name string, depth int) {
			call, rest, _ := strings.Cut(name, ":")
			for range r.IntN(3) {
				if depth > 2 {
					break
				}
				at += r.IntN(5)
				inner := []string{call, "callback", "MPI_Test"}[r.IntN(3)]
				fmt.Fprintf(&b, "%d %s {\n", at, inner)
				body(inner, depth+1)
				at += r.IntN(20)
				fmt.Fprintf(&b, "} %d\n", at)
			}
			if rest != "" {
				fmt.Fprintf(&b, "@%d %s\n", at, rest)
			}
		}
		for _, name := range names {
			at += r.IntN(20)
			call, _, _ := strings.Cut(name, ":")
			fmt.Fprintf(&b, "%d %s {\n", at, call)
			body(name, 0)
			at += r.IntN(20)
			fmt.Fprintf(&b, "} %d\n", at)
		}
	}
	return b.String()
}

// However calls contain each other: no part of the run takes less than no time, and call paths take none on average either.
func TestWaitsInsideAreWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	waits := 0
	for range 500 {
		text := insideProgram(r)
		result := analyzed(t, text)
		waits += len(result.Waits)
		for _, p := range result.Profile().Composition(result.WaitTimes()).Parts {
			for rank, time := range p.ByRank {
				if time.Sign() < 0 {
					t.Fatalf("%s of rank %d is %v in\n%s", p.Name, rank, time, text)
				}
			}
		}
		for _, p := range result.CriticalPath().Paths {
			if p.Average.Sign() < 0 {
				t.Fatalf("%s takes %v on average in\n%s", p.CallPath, p.Average, text)
			}
		}
	}
	if waits < 500 {
		t.Errorf("only %d waits", waits)
	}
}
