package record

import (
	"slices"
	"testing"

	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestFortranNeighbors wants neighbors, bytes by peer, roots and messages of MPI-4 from every binding of Fortran.
func TestFortranNeighbors(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for _, binding := range []string{"MPIF", "MODULE", "F08"} {
			t.Run(binding, func(t *testing.T) {
				flags := []string{"-O1", "-fallow-argument-mismatch", "-D" + binding}
				if l.Kind == mpi.MPICH {
					flags = append(flags, "-DMPI4")
				}
				r := recorded(t, sampled(append(mpitest.Launch(l, 4), build(t, l, "neighbors.F90", flags...))...))
				if r.stdout != "" || r.result.ExitCode != 0 {
					t.Errorf("exit code %d\n%s", r.result.ExitCode, r.stdout)
				}
				checkRing(t, r, l.Kind == mpi.MPICH)
				if p := r.lined(t).Problems; p.IncompleteCollectives+p.UnmatchedSends+p.UnmatchedReceives+p.PendingRequests != 0 {
					t.Errorf("problems = %+v", p)
				}
			})
		}
	})
}

// checkRing wants what testdata/neighbors.F90 did to be in the trace.
func checkRing(t *testing.T, r *recording, mpi4 bool) {
	t.Helper()
	rings := 0
	for _, c := range r.Comms {
		if c.In != nil && slices.Equal(c.In[2], []int32{1}) && slices.Equal(c.Out[2], []int32{3}) {
			rings++
		}
	}
	if rings != 1 || len(r.Carts) != 1 {
		t.Errorf("%d rings and %d grids, want one of each", rings, len(r.Carts))
	}
	for rank := range r.Locations {
		to, from := (rank+1)%4, (rank+3)%4
		sparse := make([]int64, 8)
		sparse[to], sparse[4+from] = 12, 12
		got, roots := map[timeline.Op][]trace.Event{}, []int32{}
		created, parts, both := 0, 0, 0
		for _, e := range r.events(t, rank) {
			switch e.Kind {
			case trace.CollectiveEnd, trace.CollectiveDone:
				got[e.Op] = append(got[e.Op], e)
				if e.Op == timeline.OpBcast {
					roots = append(roots, e.Root)
				}
			case trace.CommCreate:
				created++
			case trace.PartitionedSend, trace.PartitionedDone:
				if e.Object != 1 || e.Size != 16 {
					t.Errorf("rank %d: partitioned message %+v", rank, e)
				}
				parts++
			case trace.Isend, trace.IrecvDone:
				both++
			}
		}
		persistent := map[bool]int{true: 1}[mpi4]
		want := map[timeline.Op]int{timeline.OpNeighborAllgather: 1, timeline.OpNeighborAlltoall: 2, timeline.OpNeighborAlltoallv: 1 + persistent,
			timeline.OpNeighborAlltoallw: 1, timeline.OpAlltoallv: 1 + 2*persistent, timeline.OpAlltoallw: 1, timeline.OpBcast: 1}
		for op, n := range want {
			if len(got[op]) != n {
				t.Errorf("rank %d: operation %d: %d times, want %d", rank, op, len(got[op]), n)
			}
		}
		for _, e := range append(got[timeline.OpAlltoallv], got[timeline.OpAlltoallw]...) {
			if !slices.Equal(e.Counts, sparse) {
				t.Errorf("rank %d: bytes by peer %v, want %v", rank, e.Counts, sparse)
			}
		}
		for _, e := range append(got[timeline.OpNeighborAlltoallv], got[timeline.OpNeighborAlltoallw]...) {
			if !slices.Equal(e.Counts, []int64{4, 4}) || e.Sent != 4 || e.Received != 4 {
				t.Errorf("rank %d: exchange %+v", rank, e)
			}
		}
		if e := got[timeline.OpNeighborAlltoall]; len(e) == 2 && (e[1].Sent != map[bool]int64{true: 4, false: 8}[rank%3 == 0] || e[0].Sent != 4) {
			t.Errorf("rank %d: exchanges with %d and %d bytes", rank, e[0].Sent, e[1].Sent) // the ends of the row have one neighbor
		}
		if root := []int32{timeline.RootSelf, timeline.RootGroup, 0, 0}[rank]; !slices.Equal(roots, []int32{root}) {
			t.Errorf("rank %d: roots %v, want %d", rank, roots, root)
		}
		if created != 5 || parts != 2*persistent || both != 2*persistent {
			t.Errorf("rank %d: %d communicators, %d ends of partitioned messages, %d of MPI_Isendrecv", rank, created, parts, both)
		}
	}
}
