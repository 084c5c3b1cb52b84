package tolerance

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"slackline/model/machine"
	"slackline/model/unit"
)

// Placement is an assignment of ranks to nodes that Place found.
type Placement struct {
	StartT unit.Duration `json:"T_before_ns"` // with ranks in blocks, where the search began
	T      unit.Duration `json:"T_after_ns"`  // with this assignment
	Nodes  []int32       `json:"nodes"`       // by rank
	Swaps  []Swap        `json:"swaps"`       // all that were tried, in order
	Best   int           `json:"swaps_taken"` // how many of them lead to Nodes
	Stop   PlacementStop `json:"stop"`
}

// Swap is one step of the search: two ranks change places.
type Swap struct {
	X    int           `json:"x"`
	Y    int           `json:"y"`       // X < Y
	Gain unit.Duration `json:"gain_ns"` // what the critical path promised, rounded down
	T    unit.Duration `json:"T_ns"`    // what came of it
}

// PlacementStop reports why a search ended.
type PlacementStop string

// The reasons why a search ends.
const (
	StopNoGain   PlacementStop = "no swap promises a gain"
	StopRepeated PlacementStop = "an assignment came up again"
	StopInVain   PlacementStop = "10 swaps in a row brought no new best assignment"
)

// maxInVain is how many swaps in a row may bring no new best assignment.
const maxInVain = 10

// Place looks for an assignment of ranks to nodes with a small T, on a machine with the given number
// of cores per node and the classes node and far. It begins with ranks in blocks. Each step swaps the
// two ranks on different nodes for which the critical path promises most, and is evaluated exactly:
// the promise only looks at the present path. The result is the best assignment seen, so it is
// never worse than the first one, and the same on every run.
//
// progress, if not nil, is called after each step.
func (s *Schedule) Place(ctx context.Context, m *machine.Machine, cores int, progress func(swaps int, best unit.Duration)) (*Placement,
	error) {
	if cores < 1 {
		return nil, fmt.Errorf("%d cores per node; give at least 1", cores)
	}
	p := placer{ranks: s.ranks, machine: *m}
	node, far := &m.Classes[machine.Node], &m.Classes[machine.Far]
	p.dL = int64(far.Latency) - int64(node.Latency)
	p.dG = int64(far.PerByte[0].Value) - int64(node.PerByte[0].Value)
	p.machine.NodesPerSwitch = 0
	p.nodes = make([]int32, p.ranks)
	for r := range p.nodes {
		p.nodes[r] = int32(r / cores)
	}
	p.numNodes = (p.ranks-1)/cores + 1
	return p.search(ctx, s, progress)
}

// placer is the state of Place.
type placer struct {
	ranks, numNodes int
	machine         machine.Machine
	nodes           []int32
	dL, dG          int64 // what a latency and a byte cost more between nodes than inside one
}

func (p *placer) search(ctx context.Context, s *Schedule, progress func(int, unit.Duration)) (*Placement, error) {
	e, err := p.evaluate(s)
	if err != nil {
		return nil, err
	}
	result := &Placement{Nodes: slices.Clone(p.nodes), T: e.T, StartT: e.T}
	seen := map[string]bool{assignmentKey(p.nodes): true}
	inVain := 0
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		path, err := e.criticalPath()
		if err != nil {
			return nil, err
		}
		x, y, promise := p.bestSwap(path.Pairs)
		if !(int128{}).less(promise.int128) {
			result.Stop = StopNoGain
			return result, nil
		}
		p.nodes[x], p.nodes[y] = p.nodes[y], p.nodes[x]
		if k := assignmentKey(p.nodes); seen[k] {
			result.Stop = StopRepeated
			return result, nil
		} else {
			seen[k] = true
		}
		if e, err = p.evaluate(s); err != nil {
			return nil, err
		}
		result.Swaps = append(result.Swaps, Swap{X: x, Y: y, Gain: promise.picoseconds(), T: e.T})
		inVain++
		if e.T < result.T {
			result.Nodes, result.T, result.Best = slices.Clone(p.nodes), e.T, len(result.Swaps)
			inVain = 0
		}
		if progress != nil {
			progress(len(result.Swaps), result.T)
		}
		if inVain == maxInVain {
			result.Stop = StopInVain
			return result, nil
		}
	}
}

// evaluate evaluates the present assignment.
func (p *placer) evaluate(s *Schedule) (*Evaluation, error) {
	m := p.machine
	m.Placement = machine.Placement{Nodes: slices.Clone(p.nodes)}
	layout, err := m.Layout(p.ranks)
	if err != nil {
		return nil, err
	}
	return s.Evaluate(Network{Layout: layout})
}

// assignmentKey turns an assignment into a key of a map.
func assignmentKey(nodes []int32) string {
	b := make([]byte, 0, 4*len(nodes))
	for _, n := range nodes {
		b = append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return string(b)
}

// pathCounts are latencies and bytes on the critical path.
type pathCounts struct{ l, bytes int64 }

func (c *pathCounts) add(o pathCounts) { c.l += o.l; c.bytes += o.bytes }

// bestSwap returns the ranks x < y on different nodes X, Y whose swap promises most: with w(a,b) the
// counts between two ranks
//
//	dL*D(latencies) + dG*D(bytes),
//	D(w) = sum over r in X\{x} of (w(y,r) - w(x,r)) + sum over r in Y\{y} of (w(x,r) - w(y,r))
//
// Of equal ones it is the one with the smallest x, then y. Ranks that are not on the path are all
// alike: a swap of two of them promises nothing.
func (p *placer) bestSwap(pairs []Pair) (x, y int, promise gain) {
	between := map[[2]int]pathCounts{}
	toNode := map[int][]pathCounts{} // by rank on the path: what it has with each node
	row := func(rank int) []pathCounts {
		if toNode[rank] == nil {
			toNode[rank] = make([]pathCounts, p.numNodes)
		}
		return toNode[rank]
	}
	for _, pair := range pairs {
		if pair.A == pair.B {
			continue // always inside a node
		}
		c := pathCounts{pair.L, pair.Bytes}
		between[[2]int{pair.A, pair.B}] = c
		row(pair.A)[p.nodes[pair.B]].add(c)
		row(pair.B)[p.nodes[pair.A]].add(c)
	}
	none := make([]pathCounts, p.numNodes)
	rowOf := func(rank int) ([]pathCounts, bool) {
		if r := toNode[rank]; r != nil {
			return r, true
		}
		return none, false
	}
	x, y = -1, -1
	for a := range p.ranks {
		rowA, hotA := rowOf(a)
		for b := a + 1; b < p.ranks; b++ {
			rowB, hotB := rowOf(b)
			nodeA, nodeB := p.nodes[a], p.nodes[b]
			if nodeA == nodeB || !hotA && !hotB {
				continue
			}
			w := between[[2]int{a, b}]
			d := func(of func(pathCounts) int64) int64 {
				return of(rowB[nodeA]) - of(rowA[nodeA]) + of(rowA[nodeB]) - of(rowB[nodeB]) - 2*of(w)
			}
			g := newGain(p.dL, d(func(c pathCounts) int64 { return c.l }), p.dG, d(func(c pathCounts) int64 { return c.bytes }))
			if x < 0 || promise.less(g.int128) {
				x, y, promise = a, b, g
			}
		}
	}
	return x, y, promise
}

// gain is a promise in femtoseconds.
type gain struct{ int128 }

// newGain returns 1000*dL*l + dG*bytes: dL is in picoseconds, dG in femtoseconds per byte.
func newGain(dL, l, dG, bytes int64) gain {
	return gain{signedProduct(dL, 1000*l).plus(signedProduct(dG, bytes))}
}

// signedProduct multiplies two signed numbers.
func signedProduct(a, b int64) int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	n := int128{int64(hi), lo}
	if a < 0 {
		n.hi -= b
	}
	if b < 0 {
		n.hi -= a
	}
	return n
}

// picoseconds returns a gain above 0 in picoseconds, rounded down, or the largest time there is.
func (g gain) picoseconds() unit.Duration {
	if g.hi >= 1000 {
		return unit.Duration(maxTime)
	}
	q, _ := bits.Div64(uint64(g.hi), g.lo, 1000)
	return unit.Duration(min(q, uint64(maxTime)))
}
