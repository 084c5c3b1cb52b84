package schedule

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(g *Graph, op *Op)
		want   string
	}{
		{"nothing", func(*Graph, *Op) {}, ""},
		{"peer", func(_ *Graph, op *Op) { op.Peer = 2 }, "made.goal:3: rank 0: operation a: send to rank 2, but there are 2 ranks"},
		{"any peer", func(_ *Graph, op *Op) { op.Peer = AnySource }, "send to rank -1"},
		{"source", func(_ *Graph, op *Op) { op.Kind = Recv; op.Peer = -2 }, "recv from rank -2"},
		{"any source", func(_ *Graph, op *Op) { op.Kind = Recv; op.Peer = AnySource; op.Tag = AnyTag }, ""},
		{"tag", func(_ *Graph, op *Op) { op.Tag = AnyTag }, "any tag is allowed for recv only"},
		{"size", func(_ *Graph, op *Op) { op.Size = -1 }, "size or time -1 is negative"},
		{"cpu", func(_ *Graph, op *Op) { op.CPU = 255 }, "cpu 255, nic 0 is out of range"},
		{"nic", func(_ *Graph, op *Op) { op.NIC = 255 }, "nic 255 is out of range"},
		{"kind", func(_ *Graph, op *Op) { op.Kind = 9 }, "kind 9 does not exist"},
		{"origin", func(_ *Graph, op *Op) { op.Origin = 1 }, "origin 1 does not exist"},
		{"call", func(_ *Graph, op *Op) { op.Kind = Collective }, "collective call 8 does not exist, there are 0"},
		{"dependent", func(g *Graph, _ *Op) { g.dependents[0] = NewDependent(5, false) }, "operation #5 waits for it"},
		{"table", func(g *Graph, _ *Op) { g.first[1] = 7 }, "its place in the table of dependencies is wrong"},
		{"table end", func(g *Graph, _ *Op) { g.first[3] = 0 }, "the table of dependencies does not fit 3 operations and 2 dependencies"},
		{"cycle", func(g *Graph, _ *Op) { g.dependents[1] = NewDependent(0, true) }, "made.goal:3: rank 0: a and b wait for each other"},
	} {
		g, err := ReadGOAL("made.goal", []byte("num_ranks 2\nrank 0 {\na: send 8b to 1\nb: calc 1\nc: calc 1\nb requires a\nc requires b\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		tc.change(g, &g.ops[0])
		err = Check(g)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: Check = %v, want none", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: Check = %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestCheckCalls(t *testing.T) {
	member := NewGroup([]int32{1, 0})
	other := NewGroup([]int32{1})
	for _, tc := range []struct {
		call Call
		want string
	}{
		{Call{Op: Bcast, Group: 1, Root: 1}, ""},
		{Call{Op: numOperations}, "collective operation 13 does not exist"},
		{Call{Group: 3}, "communicator 3 does not exist, there are 3"},
		{Call{Group: -1}, "communicator -1 does not exist"},
		{Call{Group: 2}, "the rank takes part in a barrier of a communicator that it is no member of"},
		{Call{Op: Bcast, Root: 2}, "root 2 is out of range, the communicator has 2 ranks"},
		{Call{Op: Bcast, Size: -1}, "size -1 is negative"},
		{Call{Op: Alltoall, Sizes: []int64{1, -2}}, "size -2 is negative"},
		{Call{Op: NeighborAlltoall, Sources: []int32{0, 2}}, "neighbour 2 is out of range"},
	} {
		build := NewBuilder(2)
		var b Block
		b.Call(tc.call)
		build.Add(0, &b)
		build.SetGroups([]Group{World(2), member, other})
		err := Check(build.Graph())
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("Check(%+v) = %v, want none", tc.call, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("Check(%+v) = %v, want %s", tc.call, err, tc.want)
		}
	}
}
