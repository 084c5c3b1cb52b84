package inject

import (
	"runtime"
	"testing"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestNoWarnings wants the compiler to have nothing to say about the library.
func TestNoWarnings(t *testing.T) {
	s, err := source()
	if err != nil {
		t.Fatal(err)
	}
	mpitest.NoWarnings(t, s)
}

// TestWaited wants the time without a CPU to be a part of the time of a rank, also of a short one whose start was held up by others.
func TestWaited(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		r := inject(t, l, 3*runtime.NumCPU(), build(t, l, "nothing.c"), Options{}, "10us")
		if r.err != nil || r.ExitCode != 0 {
			t.Fatalf("%v, exit code = %d\n%s%s", r.err, r.ExitCode, r.stdout, r.stderr)
		}
		for _, x := range r.ByRank {
			if x.WaitedNS > x.RunNS {
				t.Errorf("rank %d ran for %d ns and waited for a CPU for %d ns of that", x.Rank, x.RunNS, x.WaitedNS)
			}
		}
	})
}
