package schedule

import (
	"fmt"
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
		{Call{Group: 2}, "the rank takes part in a barrier of a communicator of which it is not a member"},
		{Call{Op: Bcast, Root: 2}, "root 2 is out of range, the communicator has 2 ranks"},
		{Call{Op: Bcast, Size: -1}, "size -1 is negative"},
		{Call{Op: Alltoall, Sizes: []int64{1, -2}}, "size -2 is negative"},
		{Call{Op: NeighborAlltoall, Sources: []int32{0, 2}}, "neighbor 2 is out of range"},
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

// Check tests the structure of a graph: that all partners, groups and dependencies exist, that all
// values are in their ranges, and that no operations of a block wait for each other. What the
// readers return has passed it. An error names rank and operation, and file and line if they are
// known.
func Check(g *Graph) error {
	c := checker{g: g}
	for c.rank = range g.Ranks() {
		c.base = 0
		for step := range g.Steps(c.rank) {
			g.Block(c.rank, step, &c.block)
			if err := c.checkBlock(); err != nil {
				return err
			}
			c.base += len(c.block.Ops)
		}
	}
	return nil
}

type checker struct {
	g      *Graph
	rank   int
	base   int // index of the first operation of the block among those of the rank
	block  Block
	cycles cycleFinder
}

// fault is an error at an operation of the block.
func (c *checker) fault(index int, format string, args ...any) error {
	what := fmt.Sprintf("rank %d: operation %s: %s", c.rank, c.g.Name(c.rank, c.base+index), fmt.Sprintf(format, args...))
	return c.at(index, what)
}

// at puts file and line of an operation before a message.
func (c *checker) at(index int, what string) error {
	e := &FileError{File: "schedule", Line: c.g.Line(c.rank, c.base+index), What: what}
	if c.g.Names != nil {
		e.File = c.g.Names.File
	}
	return e
}

func (c *checker) checkBlock() error {
	b := &c.block
	if len(b.Ops) > MaxBlockOps {
		return fmt.Errorf("rank %d: a block has %d operations, at most %d are possible", c.rank, len(b.Ops), MaxBlockOps)
	}
	for i := range b.Ops {
		if err := c.checkOp(i, &b.Ops[i]); err != nil {
			return err
		}
	}
	if len(b.First) == 0 && len(b.Dependents) == 0 {
		return nil
	}
	if len(b.First) != len(b.Ops)+1 || b.First[0] != 0 || int(b.First[len(b.Ops)]) != len(b.Dependents) {
		return fmt.Errorf("rank %d: the table of dependencies does not fit %d operations and %d dependencies",
			c.rank, len(b.Ops), len(b.Dependents))
	}
	for i := range b.Ops {
		if b.First[i] > b.First[i+1] || int(b.First[i+1]) > len(b.Dependents) {
			return c.fault(i, "its place in the table of dependencies is wrong")
		}
		for _, d := range b.Dependents[b.First[i]:b.First[i+1]] {
			if d.Index() >= len(b.Ops) {
				return c.fault(i, "operation #%d waits for it, but the block has %d operations", d.Index(), len(b.Ops))
			}
		}
	}
	if cycle := c.cycles.find(len(b.Ops), b.First, b.Dependents); cycle != nil {
		return c.at(cycle[0], cycleText(c.rank, cycle, func(i int) string {
			return c.g.Name(c.rank, c.base+i)
		}))
	}
	return nil
}

func (c *checker) checkOp(index int, op *Op) error {
	if op.Size < 0 {
		return c.fault(index, "size or time %d is negative", op.Size)
	}
	if op.CPU > maxUnit || op.NIC > maxUnit {
		return c.fault(index, "cpu %d, nic %d is out of range (0 to %d)", op.CPU, op.NIC, maxUnit)
	}
	if n := len(c.g.origins); op.Origin != 0 && int(op.Origin) >= n {
		return c.fault(index, "origin %d does not exist, there are %d", op.Origin, n)
	}
	if op.IsBuffered() && op.Kind != Send {
		return c.fault(index, "only a send can be buffered")
	}
	inRange := op.Peer >= 0 && int(op.Peer) < c.g.Ranks()
	switch op.Kind {
	case Send:
		if !inRange {
			return c.fault(index, "send to rank %d, but there are %d ranks", op.Peer, c.g.Ranks())
		}
		if op.Tag == AnyTag {
			return c.fault(index, "any tag is allowed for recv only")
		}
	case Recv:
		if !inRange && op.Peer != AnySource {
			return c.fault(index, "recv from rank %d, but there are %d ranks", op.Peer, c.g.Ranks())
		}
	case Calc:
	case Collective:
		return c.checkCall(index, op)
	default:
		return c.fault(index, "kind %d does not exist", op.Kind)
	}
	return nil
}

// checkCall tests a symbolic collective.
func (c *checker) checkCall(index int, op *Op) error {
	if op.Size >= int64(len(c.block.Calls)) {
		return c.fault(index, "collective call %d does not exist, there are %d", op.Size, len(c.block.Calls))
	}
	call := &c.block.Calls[op.Size]
	group := World(c.g.Ranks())
	if n := len(c.g.groups); n > 0 {
		if call.Group < 0 || int(call.Group) >= n {
			return c.fault(index, "communicator %d does not exist, there are %d", call.Group, n)
		}
		group = c.g.groups[call.Group]
	} else if call.Group != 0 {
		return c.fault(index, "communicator %d does not exist, there is the world only", call.Group)
	}
	switch {
	case call.Op >= numOperations:
		return c.fault(index, "collective operation %d does not exist", call.Op)
	case call.Size < 0:
		return c.fault(index, "size %d is negative", call.Size)
	case call.Root < 0 || int(call.Root) >= group.Len():
		return c.fault(index, "root %d is out of range, the communicator has %d ranks", call.Root, group.Len())
	case group.Index(c.rank) < 0:
		return c.fault(index, "the rank takes part in a %s of a communicator of which it is not a member", call.Op)
	}
	for _, size := range call.Sizes {
		if size < 0 {
			return c.fault(index, "size %d is negative", size)
		}
	}
	for _, list := range [][]int32{call.Sources, call.Destinations} {
		for _, r := range list {
			if r < 0 || int(r) >= group.Len() {
				return c.fault(index, "neighbor %d is out of range, the communicator has %d ranks", r, group.Len())
			}
		}
	}
	return nil
}
