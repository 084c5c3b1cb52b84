package schedule

import "fmt"

// Packed is a program in memory in the form in which it is run. Blocks are cut where that changes
// nothing (see cutter), so that an engine can forget a piece when it is done, and equal blocks are
// kept once: programs repeat themselves, and what is left of them mostly fits into the cache. A rank
// is a list of the numbers of its blocks.
//
// A Packed is made by Pack or Open and not changed afterwards.
type Packed struct {
	ranks   []packedRank
	stores  []*blockStore
	calls   []Call
	groups  []Group
	origins []Origin
	shape   Shape
	same    []bool // by step; see SameCall
	part    bool
	file    string // empty: not known
}

// packedRank names the blocks of a rank: so many from a place in the steps of a store, with the computations from a place on.
type packedRank struct {
	at, calcs    int
	steps, store uint32
}

// begunRank is the steps of a rank of a store.
type begunRank struct {
	rank int32
	packedRank
}

// blockStore holds the blocks of some ranks. A block is a head and its operations, which lie together so that
// one who goes on with a rank, whose last block was long ago, waits for memory once. Of messages it has the distances of their
// peers from the rank, modulo the number of ranks: those who do the same, each with its neighbors, share their blocks. A block
// that is a computation and nothing else is only its duration: in real programs no two of them are equal.
type blockStore struct {
	steps      []uint32 // by rank and step: where the head of a block is in ops; with loneCalc, the number among those of the rank
	calcs      []int64  // picoseconds
	origins    []uint32 // of calcs; those that are missing are 0
	ops        []Op
	first      []uint32
	dependents []Dependent

	largest int64 // size of the largest send that is not buffered
	linked  int   // operations of the largest block with dependencies

	names *Names      // of the operations of all ranks, in their order; nil: there are none
	ranks []begunRank // in the order of names
}

// loneCalc marks a step that is a computation on CPU 0 and nothing else.
const loneCalc = 1 << 31

// size is the number of operations of a rank.
func (s *blockStore) size(r *packedRank) (ops int) {
	for _, at := range s.steps[r.at : r.at+int(r.steps)] {
		if at >= loneCalc {
			ops++
		} else {
			ops += int(s.ops[at].Tag)
		}
	}
	return ops
}

// What the head of a block says beside its sizes.
const (
	asDistance   = 1  // Peer: the operations have distances
	maxDistances = 64 // at most so many; longer blocks are not copied to be run
	anExchange   = 1  // Context: see Exchanger
)

// blockHead is the head of a block, which is kept as an operation: Tag is the number of operations and Origin that
// of dependents. If there are any, First is in first, at Size and two places after it, and these hold the halves of the
// place in dependents.
func blockHead(ops, dependents, first int) Op {
	return Op{Tag: uint32(ops), Origin: uint32(dependents), Size: int64(first)}
}

// links returns Block.First and Block.Dependents of the block with a head.
func (s *blockStore) links(head *Op) ([]uint32, []Dependent) {
	if head.Origin == 0 {
		return nil, nil
	}
	at := int(head.Size) + 2
	from := int(s.first[at-2]) | int(s.first[at-1])<<32
	return s.first[at : at+int(head.Tag)+1], s.dependents[from : from+int(head.Origin)]
}

// Ranks implements Program.
func (p *Packed) Ranks() int { return len(p.ranks) }

// Steps implements Program.
func (p *Packed) Steps(rank int) int { return int(p.ranks[rank].steps) }

// Block implements Program.
func (p *Packed) Block(rank, step int, b *Block) {
	r := &p.ranks[rank]
	s := p.stores[r.store]
	at := s.steps[r.at+step]
	if at >= loneCalc {
		i := r.calcs + int(at-loneCalc)
		b.Reset()
		if b.Calc(s.calcs[i]); i < len(s.origins) {
			b.Ops[0].Origin = s.origins[i]
		}
		return
	}
	head := &s.ops[at]
	first, dependents := s.links(head)
	ops := s.ops[at+1 : at+1+head.Tag]
	if head.Peer != asDistance {
		b.Borrow(ops, p.calls, first, dependents)
		return
	}
	b.Reset()
	b.Ops, b.First, b.Dependents = append(b.Ops, ops...), first, dependents
	for i := range b.Ops {
		if op := &b.Ops[i]; op.Kind <= Recv && op.Peer != AnySource {
			op.Peer = p.peer(rank, op.Peer)
		}
	}
}

// peer returns the rank at a distance.
func (p *Packed) peer(rank int, distance int32) int32 {
	peer := distance - int32(len(p.ranks)-rank)
	if peer < 0 {
		peer += int32(len(p.ranks))
	}
	return peer
}

// Next implements Stream, for programs without collectives.
func (p *Packed) Next(rank int, at Cursor, b *Block) (Cursor, bool) {
	for uint32(at.Step) < p.ranks[rank].steps {
		p.Block(rank, int(at.Step), b)
		at.Step++
		if len(b.Ops) > 0 {
			return at, true
		}
	}
	return at, false
}

// NextExchange implements Exchanger.
func (p *Packed) NextExchange(rank int, at Cursor, _ *Block) (x Exchange, next Cursor, ok bool) {
	r := &p.ranks[rank]
	if uint32(at.Step) >= r.steps {
		return x, at, false
	}
	s := p.stores[r.store]
	place := s.steps[r.at+int(at.Step)]
	if place >= loneCalc || s.ops[place].Context != anExchange {
		return x, at, false
	}
	send, recv := &s.ops[place+1], &s.ops[place+2]
	x = Exchange{Size: send.Size, To: p.peer(rank, send.Peer), From: p.peer(rank, recv.Peer), Tag: send.Tag, Context: send.Context}
	at.Step++
	return x, at, true
}

// Shape implements Program and Stream.
func (p *Packed) Shape() Shape { return p.shape }

// Groups implements Program.
func (p *Packed) Groups() []Group { return p.groups }

// Origins implements Program.
func (p *Packed) Origins() []Origin { return p.origins }

// SameCall implements SPMD.
func (p *Packed) SameCall(step int) bool { return step < len(p.same) && p.same[step] }

// IsPart reports whether only some ranks have their blocks: see Part.
func (p *Packed) IsPart() bool { return p.part }

// LargestSend is the size of the largest send that is not buffered, 0 if there is none.
func (p *Packed) LargestSend() int64 {
	largest := int64(0)
	for _, s := range p.stores {
		largest = max(largest, s.largest)
	}
	return largest
}

// LargestLinked is the number of operations of the largest block with dependencies, 0 if there is none.
func (p *Packed) LargestLinked() int {
	largest := 0
	for _, s := range p.stores {
		largest = max(largest, s.linked)
	}
	return largest
}

// File is the name of the file that the program is from; empty if it is not known.
func (p *Packed) File() string { return p.file }

// Name returns what a message calls an operation of a rank (counted over all its blocks): its label, or
// its position such as #3, and its line in the file if that is known.
func (p *Packed) Name(rank, index int) string {
	r := &p.ranks[rank]
	s := p.stores[r.store]
	name := fmt.Sprintf("#%d", index)
	if s.names == nil {
		return name
	}
	at := index
	for i := range s.ranks {
		if s.ranks[i].rank == int32(rank) {
			break
		}
		at += s.size(&s.ranks[i].packedRank)
	}
	if label := s.names.appendLabel(nil, at); len(label) > 0 {
		name = string(label)
	}
	if line := s.names.lineOf(at); line > 0 {
		return fmt.Sprintf("%s (line %d)", name, line)
	}
	return name
}

// findSame fills same: the steps at which all ranks have the same collective of all ranks and nothing else.
func (p *Packed) findSame() {
	if !p.shape.Collectives || p.part {
		return
	}
	steps := p.Steps(0)
	for rank := range p.ranks {
		steps = min(steps, p.Steps(rank))
	}
	p.same = make([]bool, steps)
	calls := make([]Op, steps) // of rank 0
	for step := range steps {
		if op := p.loneOp(0, step); op != nil && op.Kind == Collective && p.ofAll(&p.calls[op.Size]) {
			p.same[step], calls[step] = true, *op
		}
	}
	for rank := 1; rank < len(p.ranks); rank++ {
		for step := range steps {
			if p.same[step] {
				op := p.loneOp(rank, step)
				p.same[step] = op != nil && *op == calls[step]
			}
		}
	}
}

// loneOp returns the only operation of a block; nil if it has none or several, or if that is a computation.
func (p *Packed) loneOp(rank, step int) *Op {
	r := &p.ranks[rank]
	s := p.stores[r.store]
	at := s.steps[r.at+step]
	if at >= loneCalc || s.ops[at].Tag != 1 {
		return nil
	}
	return &s.ops[at+1]
}

// ofAll reports whether a call is one of all ranks, with nothing in it that may differ between them.
func (p *Packed) ofAll(c *Call) bool {
	if len(c.Sizes)+len(c.Sources)+len(c.Destinations) > 0 {
		return false
	}
	if len(p.groups) == 0 {
		return c.Group == 0
	}
	return c.Group >= 0 && int(c.Group) < len(p.groups) && p.groups[c.Group].IsWorld() && p.groups[c.Group].Len() == len(p.ranks)
}
