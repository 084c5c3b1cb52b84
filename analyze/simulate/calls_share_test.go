package simulate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/schedule"
	"slackline/model/timeline"
)

// TestCallsOfPeers: calls in which peers get different bytes say who gets how many: neighborhood collectives by the neighbors of the
// communicator, and what is not always among the same, though it may be for some ranks, as MPI_Alltoallv by its counts.
func TestCallsOfPeers(t *testing.T) {
	build := schedule.NewBuilder(4)
	build.SetGroups([]schedule.Group{schedule.World(4), schedule.NewGroup([]int32{1, 0, 2, 3})})
	line, step := [][]int32{{1}, {0, 2}, {1, 3}, {2}}, [][]int32{{1}, {0, 2}, {1}, nil}
	for rank := range 4 {
		var b schedule.Block
		add := func(c schedule.Call) {
			b.Reset()
			b.Call(c)
			build.Add(rank, &b)
		}
		add(schedule.Call{Op: schedule.NeighborAllgather, Size: 8, Sources: line[rank], Destinations: line[rank]})
		add(schedule.Call{Op: schedule.NeighborAlltoall, Size: 4, Sources: line[rank], Destinations: line[rank]})
		add(schedule.Call{Op: schedule.Alltoall, Sizes: []int64{0, 1, 2, 7, 3, 0, 4, 0, 5, 6, 0, 0, 0, 8, 0, 9}})
		me := []int{1, 0, 2, 3}[rank]
		add(schedule.Call{Op: schedule.NeighborAllgather, Group: 1, Size: 4, Sources: line[me], Destinations: line[me]})
		add(schedule.Call{Op: schedule.NeighborAlltoall, Group: 1, Size: 2, Sources: step[me], Destinations: step[me]})
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
		Comm           int32
		Sent, Received int64
		Counts         []int64
	}
	var got []member // the second ones
	for i := range r.Calls.Collectives {
		c := &r.Calls.Collectives[i]
		m := &r.Calls.MembersOf(c)[1]
		got = append(got, member{c.Op, c.Comm, m.Sent, m.Received, r.Calls.CountsOf(m)})
	}
	want := []member{
		{timeline.OpNeighborAllgather, 0, 16, 16, nil},
		{timeline.OpNeighborAlltoall, 0, 8, 8, nil},
		{timeline.OpAlltoallv, 0, 7, 15, []int64{3, 0, 4, 0, 1, 0, 6, 8}},
		{timeline.OpAlltoallv, 1, 8, 8, []int64{4, 0, 4, 0, 4, 0, 4, 0}},
		{timeline.OpAlltoallv, 1, 4, 4, []int64{2, 0, 2, 0, 2, 0, 2, 0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls of the second members (-want +got):\n%s", diff)
	}
	if world, other := &r.Calls.Comms[0], &r.Calls.Comms[1]; !cmp.Equal(world.In, line) || !cmp.Equal(world.Out, line) || other.In != nil {
		t.Errorf("neighbors: from %v, to %v, want %v; where they vary %v, want none", world.In, world.Out, line, other.In)
	}
}
