package inject

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestOneSided wants one-sided calls, persistent collectives and MPI_Isendrecv to compute the same with and without latency, and every
// way to complete an operation to take at least the latencies that its messages and answers have.
func TestOneSided(t *testing.T) {
	const latency = 2_000_000 // ns
	// The fewest latencies from the start on rank 0 to the end on rank 0 and on rank 1.
	least := map[string][2]int64{
		"fence": {1, 2}, "empty-fence": {0, 1}, "fence-get": {2, 3}, "epochs": {0, 1}, "lock": {4, 0}, "flush": {2, 0}, "flush-local": {0, 0},
		"fetch": {2, 0}, "rget": {2, 0}, "rput": {0, 0}, "make": {0, 1}, "persistent": {0, 1}, "exchange": {0, 1},
	}
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "onesided.c")
		for _, ranks := range []int{2, 3} {
			want := plainRun(t, l, ranks, program)
			r := inject(t, l, ranks, program, Options{Base: -1, Sleep: "on"}, "100us")
			if r.err != nil || r.ExitCode != 0 {
				t.Fatalf("%d ranks: %v, exit code = %d\n%s%s", ranks, r.err, r.ExitCode, r.stdout, r.stderr)
			}
			if got := sortedLines(r.stdout); got != want || strings.Count(got, "rput") != ranks {
				t.Errorf("%d ranks: other data:\n%s", ranks, differences(got, want))
			}
			if len(r.Unhandled) > 0 || !slices.ContainsFunc(r.OneSided, func(c Count) bool { return c.Function == "MPI_Put" && c.Calls == 32 }) {
				t.Errorf("%d ranks: one-sided = %v, unhandled = %v; want 32 calls of MPI_Put, and none", ranks, r.OneSided, r.Unhandled)
			}
		}
		r := inject(t, l, 2, program, Options{Base: 0, Sleep: "on", Command: []string{"timed"}}, fmt.Sprint(latency, "ns"))
		if r.err != nil || r.ExitCode != 0 {
			t.Fatalf("%v, exit code = %d\n%s%s", r.err, r.ExitCode, r.stdout, r.stderr)
		}
		for line := range strings.Lines(r.stdout) {
			var name string
			var rank, took int64
			if _, err := fmt.Sscan(line, &name, &rank, &took); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			bounds, ok := least[name]
			if !ok || bounds[rank] > 0 && took < bounds[rank]*latency {
				t.Errorf("%s: rank %d took %d ns, want at least %d latencies of %d", name, rank, took, bounds[rank], latency)
			}
		}
		if n := strings.Count(r.stdout, "\n"); n < 2*11 {
			t.Errorf("%d lines:\n%s", n, r.stdout)
		}
	})
}
