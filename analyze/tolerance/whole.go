package tolerance

import (
	"fmt"
	"math"

	"slackline/model/schedule"
)

// maxOps is the number of operations that can be numbered together with a mark in 32 bits.
const maxOps = math.MaxInt32

// whole is a schedule with all operations and all that they wait for in memory: for the slack of every operation, for linear programs,
// and to name the operations that wait for each other.
type whole struct {
	graph *schedule.Graph
	ops   []schedule.Op
	// partner is the receive of a send, the send of a receive.
	partner []uint32
	// preds[predFirst[i]:predFirst[i+1]] is what operation i waits for inside its block, as points:
	// the end of another operation, or its start.
	predFirst []uint32
	preds     []point
	// lastInBlock has a bit for every operation that nothing in its block waits to end.
	lastInBlock []uint64

	// Of graphs in which some rank has several blocks with operations, else nil.
	blocks *blocks

	messages int
}

// point is a moment in the life of an operation: its start or its end.
type point uint32

func startOf(op uint32) point { return point(op << 1) }
func endOf(op uint32) point   { return point(op<<1 | 1) }
func (p point) op() uint32    { return uint32(p >> 1) }
func (p point) isEnd() bool   { return p&1 != 0 }

// blocks lists which blocks of a rank follow each other. Blocks are numbered over all ranks.
type blocks struct {
	of     []uint32 // by operation: its block
	before []uint32 // by block: the one before it that has operations, or noBlock
}

const noBlock = math.MaxUint32

// newWhole reverses the dependencies of a graph; ops are its operations, or the same with other costs.
func newWhole(graph *schedule.Graph, ops []schedule.Op, matching *schedule.Matching) (*whole, error) {
	if n := graph.NumOps(); n > maxOps {
		return nil, fmt.Errorf("%d operations are too many; the limit is %d", n, maxOps)
	}
	s := &whole{graph: graph, ops: ops, partner: matching.Partner, messages: matching.Messages}
	s.findBlocks()
	s.findLast()
	return s, s.reverse()
}

// findBlocks fills s.blocks if some rank has more than one block with operations.
func (s *whole) findBlocks() {
	g := s.graph
	several := false
	before := make([]uint32, g.NumBlocks())
	for rank := range g.Ranks() {
		last := uint32(noBlock)
		for b := g.FirstBlock(rank); b < g.FirstBlock(rank+1); b++ {
			before[b] = last
			if from, to := g.BlockOps(b); from < to {
				if last != noBlock {
					several = true
				}
				last = uint32(b)
			}
		}
	}
	if !several {
		return
	}
	of := make([]uint32, g.NumOps())
	for b := range before {
		from, to := g.BlockOps(b)
		for i := from; i < to; i++ {
			of[i] = uint32(b)
		}
	}
	s.blocks = &blocks{of, before}
}

// reverse turns who waits for an operation, which the schedule lists, into what an operation waits
// for.
func (s *whole) reverse() error {
	g := s.graph
	if uint64(g.NumDependencies()) > math.MaxUint32 {
		return fmt.Errorf("%d dependencies are too many; the limit is %d", g.NumDependencies(), uint32(math.MaxUint32))
	}
	n := g.NumOps()
	first := make([]uint32, n+1)
	for b := range g.NumBlocks() {
		from, _ := g.BlockOps(b)
		_, dependents := g.Links(b)
		for _, d := range dependents {
			first[from+d.Index()]++
		}
	}
	sum := uint32(0)
	for i := range first {
		sum += first[i]
		first[i] = sum
	}
	s.preds = make([]point, sum)
	for b := g.NumBlocks() - 1; b >= 0; b-- {
		from, _ := g.BlockOps(b)
		begins, dependents := g.Links(b)
		for i := len(begins) - 2; i >= 0; i-- {
			on := uint32(from + i)
			for _, d := range dependents[begins[i]:begins[i+1]] {
				p := endOf(on)
				if d.OnStart() {
					p = startOf(on)
				}
				at := &first[from+d.Index()]
				*at--
				s.preds[*at] = p
			}
		}
	}
	s.predFirst = first
	return nil
}

// findLast finds the operations that nothing in their block waits to end.
func (s *whole) findLast() {
	s.lastInBlock = make([]uint64, len(s.ops)/64+1)
	for b := range s.graph.NumBlocks() {
		from, to := s.graph.BlockOps(b)
		begins, dependents := s.graph.Links(b)
		for op := from; op < to; op++ {
			last := true
			if i := op - from; i+1 < len(begins) {
				for _, d := range dependents[begins[i]:begins[i+1]] {
					last = last && d.OnStart()
				}
			}
			if last {
				s.lastInBlock[op>>6] |= 1 << (op & 63)
			}
		}
	}
}

// source returns the rank of a send.
func (s *whole) source(send uint32) int {
	if peer := s.ops[s.partner[send]].Peer; peer >= 0 {
		return int(peer)
	}
	rank, _ := s.graph.Find(int(send))
	return rank
}

// previous returns the block whose end an operation without predecessors in its own block waits for.
func (s *whole) previous(op uint32) (block uint32, ok bool) {
	if s.blocks == nil {
		return 0, false
	}
	block = s.blocks.before[s.blocks.of[op]]
	return block, block != noBlock
}

// endsBlock reports whether nothing in its block waits for the end of an operation.
func (s *whole) endsBlock(op uint32) bool { return s.lastInBlock[op>>6]>>(op&63)&1 != 0 }
