package simulate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/schedule"
	"slackline/model/timeline"
)

// TestCallsOfPeers: calls in which peers get different bytes say who gets how many: neighborhood collectives by the neighbors of the
// communicator, and what is not among these, as MPI_Alltoallv, by its counts.
func TestCallsOfPeers(t *testing.T) {
	build := schedule.NewBuilder(3)
	line := [][]int32{{1}, {0, 2}, {1}}
	for rank := range 3 {
		var b schedule.Block
		add := func(c schedule.Call) {
			b.Reset()
			b.Call(c)
			build.Add(rank, &b)
		}
		add(schedule.Call{Op: schedule.NeighborAllgather, Size: 8, Sources: line[rank], Destinations: line[rank]})
		add(schedule.Call{Op: schedule.NeighborAlltoall, Size: 4, Sources: line[rank], Destinations: line[rank]})
		add(schedule.Call{Op: schedule.Alltoall, Sizes: []int64{0, 1, 2, 3, 0, 4, 5, 6, 0}})
		around := []int32{int32((rank + 1) % 3)}
		add(schedule.Call{Op: schedule.NeighborAlltoall, Size: 4, Sources: []int32{int32((rank + 2) % 3)}, Destinations: around})
	}
	r, err := Run(t.Context(), build.Graph(), vectorDefaults().machine, Options{Calls: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := checkCallsOf(r); err != nil {
		t.Fatal(err)
	}
	type member struct {
		Op             timeline.Op
		Sent, Received int64
		Counts         []int64
	}
	var got []member // of rank 1
	for i := range r.Calls.Collectives {
		c := &r.Calls.Collectives[i]
		m := &r.Calls.MembersOf(c)[1]
		got = append(got, member{c.Op, m.Sent, m.Received, r.Calls.CountsOf(m)})
	}
	want := []member{
		{timeline.OpNeighborAllgather, 16, 16, nil},
		{timeline.OpNeighborAlltoall, 8, 8, nil},
		{timeline.OpAlltoallv, 7, 7, []int64{3, 0, 4, 1, 0, 6}},
		{timeline.OpAlltoallv, 4, 4, []int64{0, 0, 4, 4, 0, 0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls of rank 1 (-want +got):\n%s", diff)
	}
	if world := r.Calls.Comms[0]; !cmp.Equal(world.In, line) || !cmp.Equal(world.Out, line) {
		t.Errorf("neighbors: from %v, to %v, want %v", world.In, world.Out, line)
	}
}
