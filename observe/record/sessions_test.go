package record

import (
	"strings"
	"testing"

	"slackline/model/timeline"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestSessions wants programs with sessions to be recorded from the first to the last, with or without MPI_Init.
func TestSessions(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		if l.Kind != mpi.MPICH {
			t.Skip("Open MPI 4.1 has no sessions")
		}
		program := build(t, l, "sessions.c", "-O1")
		for how, want := range map[string]struct {
			sessions, inits, sums int64
		}{"alone": {1, 0, 1}, "inside": {1, 1, 2}, "around": {1, 1, 2}, "two": {2, 0, 2}} {
			t.Run(how, func(t *testing.T) {
				r := recorded(t, sampled(append(mpitest.Launch(l, 2), program, how)...))
				if n := strings.Count(r.stdout, map[int64]string{1: "2\n", 2: "4\n"}[want.sums]); n != 2 || r.Ranks != 2 || r.result.ExitCode != 0 {
					t.Errorf("%d ranks, exit code %d\n%s%s", r.Ranks, r.result.ExitCode, r.stdout, r.stderr)
				}
				for rank := range 2 {
					got := r.calls(t, rank)
					if got["MPI_Session_init"] != want.sessions || got["MPI_Session_finalize"] != want.sessions || got["MPI_Init"] != want.inits ||
						got["MPI_Finalize"] != want.inits || got["MPI_Allreduce"] != want.sums || got["MPI_Comm_create_from_group"] != want.sessions {
						t.Errorf("rank %d: calls = %v", rank, got)
					}
				}
				sums := int64(0)
				for _, c := range r.lined(t).Collectives {
					if c.Op == timeline.OpAllreduce {
						sums++
					}
				}
				if sums != want.sums {
					t.Errorf("%d sums, want %d", sums, want.sums)
				}
			})
		}
	})
}
