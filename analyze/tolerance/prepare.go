package tolerance

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"slackline/model/collective"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// ErrOverflow is returned when a time does not fit into 63 bits of picoseconds.
var ErrOverflow = errors.New("a time does not fit into 63 bits of picoseconds (106 days); " +
	"are the computations or message sizes of the schedule in the right unit?")

// maxOps is the number of operations that can be numbered together with a mark in 32 bits.
const maxOps = math.MaxInt32

// Schedule is a program that is ready for the static model: its collectives have become messages,
// sends and receives are paired, and every operation lists what it waits for. It is not changed
// afterwards and can be evaluated on any number of networks; its methods may be called from several
// goroutines at once.
type Schedule struct {
	graph *schedule.Graph
	ops   []schedule.Op
	// partner is the receive of a send, the send of a receive.
	partner []uint32
	// preds[predFirst[i]:predFirst[i+1]] is what operation i waits for inside its block, as points:
	// the end of another operation, or its start.
	predFirst []uint32
	preds     []point
	// fans counts what waits for each operation inside its block; see fanOut. Finish times do without.
	fans func() []uint8

	// Of graphs in which some rank has several blocks with operations, else nil.
	blocks *blocks

	// fileShift is, by rank, how far its operations lie in the file from where they lie in the graph;
	// nil if the ranks ascend in the file.
	fileShift []int

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
	after  []bool   // by block: one with operations follows
}

const noBlock = math.MaxUint32

// Prepare makes a program ready for the static model. Collectives are expanded with the mapping (nil:
// the default one) and gamma, the CPU time per reduced byte. Receives are paired by schedule.Match.
func Prepare(p schedule.Program, mapping *collective.Mapping, gamma unit.PerByte) (*Schedule, error) {
	graph, ok := p.(*schedule.Graph)
	if p.Shape().Collectives || !ok {
		expansion := collective.Expand(p, mapping, gamma)
		graph = schedule.Materialize(expansion)
		if err := expansion.Err(); err != nil {
			return nil, err
		}
	}
	if n := graph.NumOps(); n > maxOps {
		return nil, fmt.Errorf("%d operations are too many; the limit is %d", n, maxOps)
	}
	matching, err := schedule.Match(graph)
	if err != nil {
		return nil, err
	}
	s := &Schedule{graph: graph, ops: graph.Ops(), partner: matching.Partner, messages: matching.Messages}
	s.fans = sync.OnceValue(func() []uint8 { return countFans(graph) })
	s.findBlocks()
	s.findFileOrder()
	if err := s.reverse(); err != nil {
		return nil, err
	}
	return s, nil
}

// Graph returns the operations as the analysis numbers them.
func (s *Schedule) Graph() *schedule.Graph { return s.graph }

// Messages is the number of messages.
func (s *Schedule) Messages() int { return s.messages }

// Partner returns the receive of a send, or the send of a receive.
func (s *Schedule) Partner(op int) int { return int(s.partner[op]) }

// Warnings lists what may make the answers doubtful.
func (s *Schedule) Warnings() []string { return s.ambiguous() }

// findBlocks fills s.blocks if some rank has more than one block with operations.
func (s *Schedule) findBlocks() {
	g := s.graph
	several := false
	before, after := make([]uint32, g.NumBlocks()), make([]bool, g.NumBlocks())
	for rank := range g.Ranks() {
		last := uint32(noBlock)
		for b := g.FirstBlock(rank); b < g.FirstBlock(rank+1); b++ {
			before[b] = last
			if from, to := g.BlockOps(b); from < to {
				if last != noBlock {
					several, after[last] = true, true
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
	s.blocks = &blocks{of, before, after}
}

// reverse turns who waits for an operation, which the schedule lists, into what an operation waits
// for.
func (s *Schedule) reverse() error {
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

// countFans returns the fanOut of every operation.
func countFans(g *schedule.Graph) []uint8 {
	fans := make([]uint8, g.NumOps())
	for b := range g.NumBlocks() {
		from, _ := g.BlockOps(b)
		begins, dependents := g.Links(b)
		for i := 0; i+1 < len(begins); i++ {
			fans[from+i] = fanOut(dependents[begins[i]:begins[i+1]])
		}
	}
	return fans
}

// fanOut counts the dependents of an operation that wait for its start (low four bits) and for its
// end (high four bits), each up to fanMany.
func fanOut(dependents []schedule.Dependent) uint8 {
	var starts, ends uint8
	for _, d := range dependents {
		if d.OnStart() {
			starts = min(starts+1, fanMany)
		} else {
			ends = min(ends+1, fanMany)
		}
	}
	return ends<<4 | starts
}

// fanMany is itself and all larger numbers.
const fanMany = 15

// source returns the rank of a send.
func (s *Schedule) source(send uint32) int {
	if peer := s.ops[s.partner[send]].Peer; peer >= 0 {
		return int(peer)
	}
	rank, _ := s.graph.Find(int(send))
	return rank
}

// previous returns the block whose end an operation without predecessors in its own block waits for.
func (s *Schedule) previous(op uint32) (block uint32, ok bool) {
	if s.blocks == nil {
		return 0, false
	}
	block = s.blocks.before[s.blocks.of[op]]
	return block, block != noBlock
}

// endsBlock reports whether nothing in its block waits for the end of an operation.
func (s *Schedule) endsBlock(op uint32) bool { return s.fans()[op]>>4 == 0 }

// hasBlockAfter reports whether a block with operations follows that of an operation.
func (s *Schedule) hasBlockAfter(op uint32) bool { return s.blocks.after[s.blocks.of[op]] }
