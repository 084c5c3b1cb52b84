package tolerance

import (
	"slices"

	"slackline/model/schedule"
)

// lap is what a pass does in one repetition of a program that repeats itself: all of it but the times of the calculations, as points that
// follow from others. The first points are those that are known when it starts, the last ones the same of the next repetition.
type lap struct {
	live   int      // points that are known when it starts
	firsts []uint32 // by point: its first way; one more at the end. Points that are known have none
	ways   []lapWay
	edges  []edge // of ways
	starts []lapStart
	ends   []lapEnd
	blocks [][]lapBlock // by rank: those that it loads
	ops    []uint32     // by rank: operations of these
	calcs  int          // calculations of these

	numOps, messages, rendezvous int
}

// lapWay is a way to a point.
type lapWay struct {
	from uint32 // point
	edge uint32 // what is spent, but for a calculation
	calc int32  // that calculation: of the repetition before, or, from lap.calcs on, of this one; -1: none
	step uint32 // by which the tail grows in each repetition; noStep: the tail is that of the point from which it comes
	tail uint64 // in the first repetition
}

const noStep = ^uint32(0)

// lapStart is what decides the start of an operation.
type lapStart struct {
	rank  int32
	index uint32 // in the first repetition
	point uint32 // whose tail it is; noPoint: tail is
	tail  uint32 // in the first repetition
}

const noPoint = ^uint32(0)

// lapEnd is what decides the end of an operation, as pass.decide has it.
type lapEnd struct {
	rank, otherRank int32
	index, other    uint32 // in the first repetition
	point           uint32
	step            uint32
	message         uint64 // the tail of the point if the message decided, in the first repetition
}

// lapBlock is a block without the times of its calculations.
type lapBlock struct {
	ops        []schedule.Op
	first      []uint32
	dependents []schedule.Dependent
	calc       int // number of the first calculation
}

// lapRef is a point, or what follows from it over an edge.
type lapRef struct {
	from    uint32
	calc    int32 // -1: none
	through bool  // the tail is that of the point
	tail    uint64
	edge    edge
}

// recorder writes down what a pass does in one repetition. Its methods mirror those of the pass.
type recorder struct {
	lap     *lap
	slots   [][]lapRef // by slot: the ways to it
	present []lapRef   // the ways to the present point
	start   lapRef
	edgeOf  map[edge]uint32
	early   []earlyCalc // calculations of blocks from before
	broken  bool        // what happened cannot be repeated

	numOps, messages, rendezvous int // of the pass when it started
}

// earlyCalc is a calculation of a block that was loaded in the repetition before.
type earlyCalc struct {
	rank  int
	op    uint32
	label int32 // in its place
}

// newRecorder starts with the points that are known.
func newRecorder(p *pass, live []uint32) *recorder {
	r := &recorder{edgeOf: map[edge]uint32{}, numOps: p.ops, messages: p.mail.messages, rendezvous: p.rendezvous}
	r.lap = &lap{live: len(live), firsts: make([]uint32, len(live), 4*len(live)+1), blocks: make([][]lapBlock, len(p.ranks))}
	for i, slot := range live {
		r.slot(slot)
		r.slots[slot] = append(r.slots[slot], lapPoint(uint32(i)))
	}
	return r
}

func lapPoint(n uint32) lapRef { return lapRef{from: n, calc: -1, through: true} }

// slot returns the ways to the point of a slot.
func (r *recorder) slot(n uint32) *[]lapRef {
	for int(n) >= len(r.slots) {
		r.slots = append(r.slots, nil)
	}
	return &r.slots[n]
}

// newPoint makes a point with some ways.
func (r *recorder) newPoint(ways []lapRef) lapRef {
	l := r.lap
	n := uint32(len(l.firsts))
	l.firsts = append(l.firsts, uint32(len(l.ways)))
	for _, w := range ways {
		number, ok := r.edgeOf[w.edge]
		if !ok {
			number = uint32(len(l.edges))
			l.edges = append(l.edges, w.edge)
			r.edgeOf[w.edge] = number
		}
		way := lapWay{from: w.from, edge: number, calc: w.calc, tail: w.tail}
		if w.through {
			way.step = noStep
		}
		l.ways = append(l.ways, way)
	}
	return lapPoint(n)
}

// now returns the present point.
func (r *recorder) now() *lapRef {
	if len(r.present) != 1 {
		r.broken = r.broken || len(r.present) == 0
		r.present = append(r.present[:0], r.newPoint(r.present))
	}
	return &r.present[0]
}

// over returns a point after another one.
func (a *lapRef) over(e *edge, tail uint64) lapRef {
	b := *a
	b.through, b.tail = false, tail
	b.edge.length += e.length
	b.edge.units += e.units
	b.edge.size += e.size
	b.edge.overheads += e.overheads
	b.edge.line = b.edge.line.plus(e.line)
	return b
}

func (r *recorder) resolve(slot uint32) {
	r.present = append(r.present[:0], *r.slot(slot)...)
	r.now()
}

func (r *recorder) release(slot uint32) {
	s := r.slot(slot)
	*s = (*s)[:0]
}

func (r *recorder) shift(e *edge, tail uint64) { *r.now() = r.now().over(e, tail) }

func (r *recorder) collect(slot uint32, e *edge, tail uint64) {
	s := r.slot(slot)
	*s = append(*s, r.now().over(e, tail))
}

// copyTo takes the present point as it is to that of a slot.
func (r *recorder) copyTo(slot uint32) {
	s := r.slot(slot)
	*s = append(*s, *r.now())
}

// settled returns the point of a slot.
func (r *recorder) settled(slot uint32) *lapRef {
	s := r.slot(slot)
	if len(*s) != 1 {
		r.broken = r.broken || len(*s) == 0
		*s = append((*s)[:0], r.newPoint(*s))
	}
	return &(*s)[0]
}

// arrive takes a way from the point of a slot to the present one.
func (r *recorder) arrive(slot uint32, e *edge, tail uint64) {
	r.present = append(r.present, r.settled(slot).over(e, tail))
}

// move takes a way from the point of a slot to that of another one.
func (r *recorder) move(from, to uint32, e *edge, tail uint64) {
	way := r.settled(from).over(e, tail)
	s := r.slot(to)
	*s = append(*s, way)
}

// load takes a block.
func (r *recorder) load(rank int, b *schedule.Block) {
	l := r.lap
	l.blocks[rank] = append(l.blocks[rank], lapBlock{slices.Clone(b.Ops), slices.Clone(b.First), slices.Clone(b.Dependents), l.calcs})
	for i := range b.Ops {
		if b.Ops[i].Kind == schedule.Calc {
			l.calcs++
		}
	}
}

// calc moves the present point over a calculation.
func (r *recorder) calc(rank int, i uint32, tail uint64) {
	now := r.now()
	if now.calc >= 0 || now.calc < -1 {
		*now = r.newPoint(r.present)
	}
	*now = now.over(&nothing, tail)
	blocks := r.lap.blocks[rank]
	if len(blocks) == 0 {
		now.calc = -2 - int32(len(r.early))
		r.early = append(r.early, earlyCalc{rank, i, 0})
		return
	}
	now.calc = earlyLimit + blocks[len(blocks)-1].number(i)
}

// earlyLimit is added to the numbers of calculations of this repetition until it is known how many there are.
const earlyLimit = 1 << 30

// number is the number of a calculation.
func (b *lapBlock) number(i uint32) int32 {
	n := b.calc
	for k := range i {
		if b.ops[k].Kind == schedule.Calc {
			n++
		}
	}
	return int32(n)
}

// begin notes what decides the start of an operation.
func (r *recorder) begin(rank int, index uint32) {
	now := r.now()
	s := lapStart{int32(rank), index, noPoint, uint32(now.tail)}
	if now.through {
		s.point = now.from
	}
	r.lap.starts = append(r.lap.starts, s)
}

// decide notes what decides the end of an operation.
func (r *recorder) decide(rank int, index uint32, message uint64, otherRank int, other uint32) {
	now := r.now()
	r.broken = r.broken || !now.through
	r.lap.ends = append(r.lap.ends, lapEnd{rank: int32(rank), otherRank: int32(otherRank), index: index, other: other,
		point: now.from, message: message})
}

// finish ends the recording with the points that are known then. It returns nil if what happened cannot be repeated.
func (r *recorder) finish(p *pass, live []uint32) *lap {
	l := r.lap
	for _, slot := range live {
		r.newPoint(*r.slot(slot))
	}
	l.firsts = append(l.firsts, uint32(len(l.ways)))
	l.numOps, l.messages, l.rendezvous = p.ops-r.numOps, p.mail.messages-r.messages, p.rendezvous-r.rendezvous
	l.ops = make([]uint32, len(p.ranks))
	steps := make([]uint32, len(p.ranks)) // by place in the file
	for rank, blocks := range l.blocks {
		for i := range blocks {
			l.ops[rank] += uint32(len(blocks[i].ops))
		}
		steps[p.s.fileNumber(rank, 0, false)>>32] = l.ops[rank] << 2
	}
	for i, c := range r.early {
		blocks := l.blocks[c.rank]
		if len(blocks) == 0 || int(c.op) >= len(blocks[len(blocks)-1].ops) {
			return nil
		}
		r.early[i].label = blocks[len(blocks)-1].number(c.op)
	}
	for i := range l.ways {
		w := &l.ways[i]
		switch {
		case w.calc >= earlyLimit:
			w.calc += int32(l.calcs) - earlyLimit
		case w.calc < -1:
			w.calc = r.early[-2-w.calc].label
		}
		if w.step != noStep {
			w.step = steps[w.tail>>32]
		}
	}
	for i := range l.ends {
		l.ends[i].step = steps[l.ends[i].message>>32]
	}
	if r.broken || len(r.lap.ways) == 0 {
		return nil
	}
	slices.SortFunc(l.starts, func(a, b lapStart) int { return compareOps(a.rank, b.rank, a.index, b.index) })
	slices.SortFunc(l.ends, func(a, b lapEnd) int { return compareOps(a.rank, b.rank, a.index, b.index) })
	return l
}

func compareOps(aRank, bRank int32, a, b uint32) int {
	if aRank != bRank {
		return int(aRank) - int(bRank)
	}
	return int(a) - int(b)
}
