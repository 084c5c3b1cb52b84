package inject

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
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

// TestSessionsAlone wants a program that never calls MPI_Init to end as it does by itself, and the error to say why nothing was injected.
func TestSessionsAlone(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		if l.Kind != mpi.MPICH {
			t.Skip("Open MPI 4.1 has no sessions")
		}
		program := mpitest.Build(t, l, filepath.Join("..", "record", "testdata", "sessions.c"))
		for how, why := range map[string]string{"alone": "into sessions without MPI_Init nothing can be injected", "around": ""} {
			r := inject(t, l, 2, program, Options{Command: []string{how}}, "10us")
			if strings.Count(r.stdout, "\n") != 2 || errors.Is(r.err, ErrNothing) != (why != "") ||
				why != "" && !strings.Contains(r.err.Error(), why) {
				t.Errorf("%s: %v\n%s%s", how, r.err, r.stdout, r.stderr)
			}
		}
	})
}

// TestCircumstances wants programs that change their environment first, or that have a call of MPI themselves, to get what they get without
// injection; into the latter nothing is injected, and the error names the call.
func TestCircumstances(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for _, tc := range []struct {
			flags []string
			why   string
		}{{nil, ""}, {[]string{"-DOWN"}, "an MPI_Recv of its own"}} {
			r := inject(t, l, 2, build(t, l, "cleared.c", tc.flags...), Options{}, "10us")
			for _, line := range []string{"rank 0 received 42\n", "rank 1 received 41\n"} {
				if !strings.Contains(r.stdout, line) {
					t.Errorf("%s: no %q in %q", tc.flags, line, r.stdout)
				}
			}
			if errors.Is(r.err, ErrNothing) != (tc.why != "") || tc.why != "" && !strings.Contains(r.err.Error(), tc.why) {
				t.Errorf("%s: %v\n%s", tc.flags, r.err, r.stderr)
			}
		}
	})
}
