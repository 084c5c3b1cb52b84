package record

import (
	"testing"

	"slackline/model/timeline"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestPersistentCollectives wants those of MPI 4, and what Open MPI had of them before, to be collectives each time they are started.
func TestPersistentCollectives(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		r := recorded(t, sampled(append(mpitest.Launch(l, 2), build(t, l, "persistent.c", "-O1"))...))
		if r.result.ExitCode != 0 {
			t.Fatalf("exit code %d\n%s", r.result.ExitCode, r.stderr)
		}
		for rank := range 2 {
			if got := r.calls(t, rank); got["MPI_Allreduce_init"] != 1 || got["MPI_Barrier_init"] != 1 || got["MPI_Bcast_init"] != 1 {
				t.Errorf("rank %d: calls = %v", rank, got)
			}
		}
		found := map[timeline.Op]int{}
		for _, c := range r.lined(t).Collectives {
			found[c.Op]++
		}
		for _, op := range []timeline.Op{timeline.OpAllreduce, timeline.OpBarrier, timeline.OpBcast} {
			if found[op] != 3 {
				t.Errorf("operation %d: %d times, want 3", op, found[op])
			}
		}
	})
}
