package collective

import (
	"math/bits"
	"strings"
	"testing"

	"slackline/model/schedule"
)

// nodesOf is a network with nodes of equal size, the costs of which are given.
type nodesOf struct {
	perNode, channels int
	hop               [numProtocols][2]int64 // near, far
	wire              [numProtocols]int64    // times the data
	transfer          [2]int64               // ps per byte
}

func (n *nodesOf) Node(rank int) int { return rank / n.perNode }
func (n *nodesOf) Channels() int     { return n.channels }
func (n *nodesOf) Delay(p int, far bool) int64 {
	return n.Hop(p, far) - n.Hop(0, far)
}
func (n *nodesOf) Hop(p int, far bool) int64 { return n.hop[p][index(far)] }
func (n *nodesOf) Wire(p int, size int64) int64 {
	return size * max(n.wire[p], 1)
}
func (n *nodesOf) Transfer(far bool, size int64) int64 { return size * n.transfer[index(far)] }

func index(far bool) int {
	if far {
		return 1
	}
	return 0
}

// TestChannels proves the algorithms of NCCL on machines with nodes, where channels take different paths: all numbers of ranks, also
// if the last node has fewer than the others, and all roots.
func TestChannels(t *testing.T) {
	var f flow
	for _, a := range All() {
		if !a.NCCL {
			continue
		}
		for p := 2; p <= 26; p++ {
			for _, network := range []*nodesOf{{perNode: 2}, {perNode: 3}, {perNode: 8, channels: 4}, {perNode: 8}} {
				roots := 1
				if rooted(a.Op) {
					roots = p
				}
				for root := range roots {
					proveOnNodes(t, &f, a, p, root, network)
				}
			}
		}
	}
}

func proveOnNodes(t *testing.T, f *flow, a *Algorithm, p, root int, network *nodesOf) {
	t.Helper()
	in := mustInstance(t, a, p, schedule.Call{Root: int32(root)})
	world := schedule.World(p)
	in.placed(network, &world, Simple)
	in.FreeReduce = (p+root)%2 == 0
	if nodes := (p + network.perNode - 1) / network.perNode; nodes > 1 && network.channels == 0 && in.paths != network.perNode {
		t.Fatalf("P = %d: %d paths, want %d", p, in.paths, network.perNode)
	}
	parts := in.parts
	if a.Segmented {
		parts = 2*parts + 1 // also a segment that not all channels have
	}
	for _, b := range batches(parts, 3) {
		in.trackVector(parts, b)
		var tr tracker
		mine := func(r int) (set uint64) { // the parts of the block of a rank
			for c := range in.paths {
				set |= b.bit(r*in.paths + c)
			}
			return set
		}
		switch a.Op {
		case schedule.Allgather:
			moved := &holdings{have: make([]uint64, p), want: make([]uint64, p)}
			for r := range p {
				moved.have[r], moved.want[r] = mine(r), b.all()
			}
			tr = moved
		case schedule.ReduceScatter:
			tr = newContributions(p, b.n, in, mine)
		default:
			tr = trackerFor(in, b)
		}
		if err := f.run(p, func(int) *Instance { return in }, tr); err != nil {
			t.Fatalf("%s %s, P = %d, root %d, %d per node, %d paths: %v", a.Op, a.Name, p, root, network.perNode, in.paths, err)
		}
	}
}

// A block is cut for the channels without losing a byte, with equal and with different sizes.
func TestChannelsCutBlocks(t *testing.T) {
	world := schedule.World(10)
	for _, call := range []schedule.Call{{Size: 13}, {Size: 0}, {Sizes: []int64{0, 1, 2, 3, 4, 5, 6, 7, 100, 1 << 40}}} {
		for _, a := range []*Algorithm{&allgatherNCCLRing, &reduceScatterNCCLRing} {
			in := mustInstance(t, a, 10, call)
			in.placed(&nodesOf{perNode: 4}, &world, Simple)
			for r := range 10 {
				want, sum := call.Size, int64(0)
				if call.Sizes != nil {
					want = call.Sizes[r]
				}
				for c := range in.paths {
					sum += in.block(r, c)
				}
				if in.paths != 4 || sum != want {
					t.Errorf("%s, block %d: %d paths with %d bytes, want 4 with %d", a.Op, r, in.paths, sum, want)
				}
			}
			if err := new(flow).run(10, func(int) *Instance { return in }, sizesOnly{}); err != nil {
				t.Error(err)
			}
		}
	}
}

// With as many channels as a node has ranks, all ranks send the same number of bytes to other nodes; with one channel one does.
func TestPorts(t *testing.T) {
	world := schedule.World(32)
	for _, tc := range []struct {
		channels int
		ports    int
	}{{0, 32}, {1, 4}, {4, 16}} {
		in := mustInstance(t, &allreduceNCCLRing, 32, schedule.Call{Size: 32 * 8 * 100})
		in.placed(&nodesOf{perNode: 8, channels: tc.channels}, &world, Simple)
		ports := map[int32]int64{}
		var b schedule.Block
		for me := range 32 {
			for step := 0; ; step++ {
				b.Reset()
				if !in.Algorithm.Step(in, me, step, &b) {
					break
				}
				for _, op := range b.Ops {
					if op.Kind == schedule.Send && in.far(me, int(op.Peer)) {
						ports[int32(me)] += op.Size
					}
				}
			}
		}
		want := int64(2 * 31 * 8 * 100 / max(tc.ports/4, 1))
		for me, bytes := range ports {
			if bytes != want {
				t.Errorf("%d channels: rank %d sends %d bytes to other nodes, want %d", tc.channels, me, bytes, want)
			}
		}
		if len(ports) != tc.ports {
			t.Errorf("%d channels: %d ranks send to other nodes, want %d", tc.channels, len(ports), tc.ports)
		}
	}
}

func TestDoubleTree(t *testing.T) {
	for n := 1; n <= 300; n++ {
		in := mustInstance(t, &allreduceNCCLTree, n, schedule.Call{})
		roots := 0
		for v := range n {
			inner := 0
			for tree := range 2 {
				if in.trees.down[tree][v][0] >= 0 {
					inner++
				}
				if in.trees.up[tree][v] < 0 {
					roots++
				}
				if d := int(in.trees.depth[tree][v]); d > bits.Len(uint(n-1)) {
					t.Fatalf("n = %d: node %d has depth %d", n, v, d)
				}
			}
			if inner > 1 && v > 0 {
				t.Fatalf("n = %d: node %d is inner in both trees", n, v)
			}
		}
		if roots != 2 {
			t.Fatalf("n = %d: %d roots", n, roots)
		}
	}
}

// The tuning takes what it predicts to be fastest; small vectors on many nodes go up and down a tree, large ones around rings.
func TestTuning(t *testing.T) {
	network := &nodesOf{
		perNode: 8, hop: [numProtocols][2]int64{{600_000, 2_700_000}, {1_900_000, 4_000_000}, {3_400_000, 14_000_000}},
		wire: [numProtocols]int64{4, 2, 1}, transfer: [2]int64{3, 20},
	}
	m, err := NamedMapping("nccl")
	if err != nil {
		t.Fatal(err)
	}
	m = m.On(network)
	for _, tc := range []struct {
		ranks    int
		size     int64
		name     string
		protocol Protocol
	}{
		{1024, 8, "nccl-tree", LL},
		{1024, 4 << 20, "nccl-tree", LL128}, {1024, 64 << 20, "nccl-tree", Simple}, {1024, 1 << 36, "nccl-ring", Simple},
		{8, 64, "nccl-ring", LL}, {8, 1 << 30, "nccl-ring", Simple}, {1, 100, "nccl-ring", Simple},
	} {
		in, err := m.Choose(&schedule.Call{Op: schedule.Allreduce, Size: tc.size}, tc.ranks)
		if err != nil {
			t.Fatal(err)
		}
		if in.picked.Name != tc.name || in.protocol != tc.protocol {
			t.Errorf("%d ranks, %d bytes: %s with %s, want %s with %s", tc.ranks, tc.size, in.picked.Name, in.protocol, tc.name, tc.protocol)
		}
		best := in.predict(in.picked, in.protocol)
		for _, a := range allreduceNCCL.tunes {
			for p := range Protocol(numProtocols) {
				if other := in.predict(a, p); other < best {
					t.Errorf("%d ranks, %d bytes: %s with %s would take %d ps, not %d", tc.ranks, tc.size, a.Name, p, other, best)
				}
			}
		}
	}
	for _, op := range []schedule.Operation{schedule.Bcast, schedule.Reduce, schedule.Allgather, schedule.ReduceScatter} {
		small, err1 := m.Choose(&schedule.Call{Op: op, Size: 8}, 16)
		large, err2 := m.Choose(&schedule.Call{Op: op, Size: 1 << 30}, 16)
		if err1 != nil || err2 != nil || small.protocol != LL || large.protocol != Simple {
			t.Errorf("%s: protocols %s and %s, errors %v, %v", op, small.protocol, large.protocol, err1, err2)
		}
	}
}

// Groups that are not regular on the nodes do not know of them.
func TestLocalRanks(t *testing.T) {
	n := &nodesOf{perNode: 4}
	for _, tc := range []struct {
		group schedule.Group
		want  int
	}{
		{schedule.World(12), 4}, {schedule.World(10), 4}, {schedule.World(3), 3}, {schedule.Group{First: 2, Size: 8}, 1},
		{schedule.Group{First: 1, Stride: 4, Size: 5}, 1}, {schedule.Group{First: 0, Stride: 2, Size: 6}, 2},
		{schedule.NewGroup([]int32{0, 1, 4, 8, 9}), 1},
	} {
		if got := localRanks(n, &tc.group); got != tc.want {
			t.Errorf("%+v: %d ranks on each node, want %d", tc.group, got, tc.want)
		}
	}
}

func TestProtocolErrors(t *testing.T) {
	for text, want := range map[string]string{
		"nccl-ring:protocol=LL12": "did you mean LL128?",
		"ring:protocol=LL":        "algorithm ring has no protocol",
		"nccl:protcol=LL":         "did you mean protocol?",
		"nccl:segment=1KiB":       "algorithm nccl has no segments",
	} {
		if err := CheckAlgorithm(schedule.Allreduce, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	if err := CheckAlgorithm(schedule.Allreduce, "nccl-tree:protocol=simple,segment=64KiB"); err != nil {
		t.Error(err)
	}
}
