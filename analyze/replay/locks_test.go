package replay

import (
	"fmt"
	"strings"
	"testing"

	"slackline/analyze/tolerance"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/trace/tracetest"
)

// lockRun is a run of four ranks whose first three do something to the last one's memory, n times each, in the life of one window.
// what returns the lines of a rank's i-th turn, from a time on that is its own.
func lockRun(tb testing.TB, n int, before, after string, what func(rank, i, at int) string) *timeline.Timeline {
	tb.Helper()
	const start, turn = 200, 40
	end := start + (3*n+2)*turn
	var b strings.Builder
	b.WriteString("slackline trace 1\nunit us\ncomm MPI_COMM_WORLD 0 1 2 3\nwindow w comm MPI_COMM_WORLD\n")
	for rank := range 4 {
		fmt.Fprintf(&b, "rank %d\n0 main {\n0..100 MPI_Init\n100..%d MPI_Win_create: begin; win-create w\n", rank, start)
		if rank < 3 {
			if before != "" {
				fmt.Fprintf(&b, "%d..%d %s\n", start, start+5, before)
			}
			for i := range n {
				b.WriteString(what(rank, i, start+(3*i+rank+1)*turn))
			}
			if after != "" {
				fmt.Fprintf(&b, "%d..%d %s\n", end-10, end, after)
			}
		}
		fmt.Fprintf(&b, "%d..%d MPI_Win_free: begin; win-free w\n%d..%d MPI_Finalize\n} %d\n", end, end+10, end+10, end+20, end+20)
	}
	return tracetest.Timeline(tb, b.String())
}

// manyLocks are exclusive locks, one after another.
func manyLocks(tb testing.TB, n int) *timeline.Timeline { return completed(tb, n, "") }

// completed are exclusive locks whose unlock also says that operations are complete.
func completed(tb testing.TB, n int, operations string) *timeline.Timeline {
	return lockRun(tb, n, "", "", func(_, _, at int) string {
		return fmt.Sprintf("%d..%d MPI_Win_lock: win-lock w 3 exclusive\n%d..%d MPI_Put: put w to 3 size 64\n"+
			"%d..%d MPI_Win_unlock: %swin-unlock w 3\n",
			at, at+2, at+2, at+4, at+4, at+6, operations)
	})
}

// manyFlushes are flushes in one epoch.
func manyFlushes(tb testing.TB, n int) *timeline.Timeline {
	return lockRun(tb, n, "MPI_Win_lock_all: win-lock w all shared", "MPI_Win_unlock_all: win-unlock w all", func(_, _, at int) string {
		return fmt.Sprintf("%d..%d MPI_Fetch_and_op: atomic w at 3 sent 8 received 8\n%d..%d MPI_Win_flush: win-flush w 3\n",
			at, at+2, at+2, at+6)
	})
}

// requirements counts the operations of a program, and what they require of each other.
func requirements(p schedule.Program) (ops, edges int) {
	var b schedule.Block
	for rank := range p.Ranks() {
		for step := range p.Steps(rank) {
			p.Block(rank, step, &b)
			ops, edges = ops+len(b.Ops), edges+len(b.Dependents)
		}
	}
	return ops, edges
}

// The life of a window is one block. What its operations require must not grow with the square of their number.
func TestManyEpochs(t *testing.T) {
	const n = 1000
	for name, run := range map[string]func(testing.TB, int) *timeline.Timeline{"locks": manyLocks, "flushes": manyFlushes} {
		p, err := New(run(t, n), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if ops, edges := requirements(p); ops < 3*n*6 || edges > 2*ops {
			t.Errorf("%s: %d operations, %d requirements; want at least %d, and two for each", name, ops, edges, 3*n*6)
		}
	}
}

// An unlock completes the operations of its epoch by itself. OTF2 says so of each of them, in the call: that is no flush before it.
func TestCompleteInUnlock(t *testing.T) {
	var ops, edges [2]int
	for i, operations := range []string{"", "win-flush w 3 local; win-flush w 3; "} {
		p, err := New(completed(t, 4, operations), Options{})
		if err != nil {
			t.Fatal(err)
		}
		ops[i], edges[i] = requirements(p)
	}
	if ops[0] != ops[1] || edges[0] != edges[1] {
		t.Errorf("%d operations with %d requirements, and %d with %d if the unlock says what is complete", ops[0], edges[0], ops[1], edges[1])
	}
}

// BenchmarkManyEpochs asks for the tolerance of runs with many epochs in the life of one window; ns per epoch must not grow.
func BenchmarkManyEpochs(b *testing.B) {
	for _, run := range []struct {
		name string
		make func(testing.TB, int) *timeline.Timeline
	}{{"locks", manyLocks}, {"flushes", manyFlushes}} {
		for _, n := range []int{1000, 4000, 16_000} {
			b.Run(fmt.Sprintf("kind=%s/epochs=%d", run.name, 3*n), func(b *testing.B) {
				tl := run.make(b, n)
				m, err := machine.Named("cscs-testbed")
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					p, err := New(tl, Options{})
					if err != nil {
						b.Fatal(err)
					}
					s, err := tolerance.Prepare(p, nil, m.Gamma)
					if err != nil {
						b.Fatal(err)
					}
					layout, err := m.Layout(4)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := s.Ask(tolerance.Network{Layout: layout}, tolerance.Question{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(3*n*b.N), "ns/epoch")
			})
		}
	}
}
