package tolerance

import (
	"math"
	"slices"

	"slackline/model/machine"
	"slackline/model/schedule"
)

// order lists the starts of all operations, and the ends of receives and of rendezvous sends, so that
// each comes after everything that it waits for; the end of every other operation follows from its
// start. It holds for all networks with the same protocol.
type order struct {
	points   []point
	protocol protocol
}

// protocol is what the shape of the graph depends on beside the schedule.
type protocol struct {
	rendezvous []uint64 // bit by operation: the send is a rendezvous; nil: none is
	// gapBefore is, by operation, the send whose gap a send waits for, or noOp; nil: none does.
	gapBefore []uint32
}

const noOp = schedule.NoPartner

func (p *protocol) isRendezvous(send uint32) bool {
	return p.rendezvous != nil && p.rendezvous[send>>6]>>(send&63)&1 != 0
}

// gap returns the send whose gap a send waits for.
func (p *protocol) gap(op uint32) (before uint32, ok bool) {
	if p.gapBefore == nil {
		return 0, false
	}
	before = p.gapBefore[op]
	return before, before != noOp
}

// protocol finds out which messages are rendezvous and which sends wait for a gap.
func (c *coster) protocol() protocol {
	return protocol{c.findRendezvous(), c.findGaps()}
}

func (c *coster) findRendezvous() []uint64 {
	limit := int64(machine.NoLimit)
	for class := range machine.Class(machine.NumClasses) {
		if c.n.Layout.Occurs(class) {
			limit = min(limit, c.n.Layout.Machine.Classes[class].Eager)
		}
	}
	var bits []uint64
	for i := range c.s.ops {
		op := &c.s.ops[i]
		if op.Kind == schedule.Send && op.Size > limit && c.isRendezvous(uint32(i)) {
			if bits == nil {
				bits = make([]uint64, len(c.s.ops)/64+1)
			}
			bits[i>>6] |= 1 << (i & 63)
		}
	}
	return bits
}

// findGaps chains the sends of each rank and nic in file order.
func (c *coster) findGaps() []uint32 {
	gaps := false
	for class := range machine.Class(machine.NumClasses) {
		gaps = gaps || c.n.Layout.Occurs(class) && c.n.Layout.Machine.Classes[class].Gap > 0
	}
	if !gaps || c.n.NoGap || c.s.messages == 0 {
		return nil
	}
	before := make([]uint32, len(c.s.ops))
	var last [math.MaxUint8 + 1]uint32 // by nic
	for rank := range c.s.graph.Ranks() {
		for i := range last {
			last[i] = noOp
		}
		for i := c.s.graph.FirstOp(rank); i < c.s.graph.FirstOp(rank+1); i++ {
			before[i] = noOp
			op := &c.s.ops[i]
			if op.Kind != schedule.Send {
				continue
			}
			before[i] = last[op.NIC]
			last[op.NIC] = noOp
			if c.n.Layout.Machine.Classes[c.classOf(uint32(i))].Gap > 0 {
				last[op.NIC] = uint32(i)
			}
		}
	}
	return before
}

// order finds the order for the protocol of a network, or a *schedule.CycleError.
func (c *coster) order() (*order, error) {
	o := newSorter(c)
	recvs := c.s.messages
	if o.p.rendezvous != nil {
		recvs *= 2
	}
	o.points = make([]point, 0, len(c.s.ops)+recvs)
	if err := o.visitAll(func() bool { return true }); err != nil {
		return nil, err
	}
	return &order{o.points, o.p}, nil
}

func newSorter(c *coster) *sorter {
	o := &sorter{s: c.s, p: c.protocol(), state: make([]uint8, len(c.s.ops))}
	for op := range o.state {
		if o.p.impliesEnd(c.s, uint32(op)) {
			o.state[op] = impliesEnd
		}
	}
	if c.s.blocks != nil {
		o.complete = make([]bool, len(c.s.blocks.before))
	}
	return o
}

// sorter puts points into order: it goes to a point, first to all that this waits for, and lists it
// when they are done. The way to the present point is a stack.
type sorter struct {
	s        *Schedule
	p        protocol
	points   []point
	state    []uint8 // by operation: see below
	complete []bool  // by block: all of it has ended
	stack    []frame
}

// Bits of sorter.state: the start of the operation is done, its end is; both once more for being on
// the stack.
const (
	doneBits    = 0
	onStackBits = 2
	impliesEnd  = 1 << 4 // its end is listed with its start, because it needs nothing else
)

func (p point) bit(from int) uint8 { return 1 << (from + int(p&1)) }

// frame is a point on the stack, and how many of those that it waits for are known to be done.
type frame struct {
	p   point
	pos uint32
}

// slice is how many operations of a rank are visited before the next rank has its turn.
const slice = 8

// visitAll lists everything. It takes all ranks in turn, some operations each: what belongs to one
// step of the program then lies together, and with it the memory that a pass works on. After each of
// them it calls a function, which may take the points that were listed; false ends the walk.
func (o *sorter) visitAll(listed func() bool) error {
	g := o.s.graph
	for done, more := 0, true; more; done += slice {
		more = false
		for rank := range g.Ranks() {
			from, to := g.FirstOp(rank)+done, g.FirstOp(rank+1)
			for op := from; op < min(from+slice, to); op++ {
				if err := o.visit(uint32(op)); err != nil {
					return err
				}
			}
			if !listed() {
				return nil
			}
			more = more || from+slice < to
		}
	}
	return nil
}

// visit lists the end of an operation and all before it.
func (o *sorter) visit(op uint32) error {
	if o.isDone(endOf(op)) {
		return nil
	}
	o.push(o.listing(endOf(op)))
	for len(o.stack) > 0 {
		f := &o.stack[len(o.stack)-1]
		var next point
		var ready bool
		if f.p.isEnd() {
			next, ready = o.advanceEnd(f)
		} else {
			next, ready = o.advanceStart(f)
		}
		if ready {
			o.done(f.p)
			o.stack = o.stack[:len(o.stack)-1]
			continue
		}
		if next = o.listing(next); o.onStack(next) {
			return o.cycleError(next)
		}
		o.push(next)
	}
	return nil
}

// listing turns a point into the one with which it is listed.
func (o *sorter) listing(p point) point {
	if p.isEnd() && o.state[p.op()]&impliesEnd != 0 {
		return p &^ 1
	}
	return p
}

func (o *sorter) isDone(p point) bool  { return o.state[p.op()]&p.bit(doneBits) != 0 }
func (o *sorter) onStack(p point) bool { return o.state[p.op()]&p.bit(onStackBits) != 0 }

func (o *sorter) push(p point) {
	o.state[p.op()] |= p.bit(onStackBits)
	o.stack = append(o.stack, frame{p: p})
}

// done lists a point.
func (o *sorter) done(p point) {
	state := &o.state[p.op()]
	*state = *state&^p.bit(onStackBits) | p.bit(doneBits)
	if *state&impliesEnd != 0 {
		*state |= (p | 1).bit(doneBits)
	}
	o.points = append(o.points, p)
}

// advanceEnd returns the next point that the end of a receive or of a rendezvous send waits for.
func (o *sorter) advanceEnd(f *frame) (next point, ready bool) {
	op := f.p.op()
	if p := startOf(op); !o.isDone(p) {
		return p, false
	}
	p := endOf(o.s.partner[op])
	if o.p.isRendezvous(op) {
		p = startOf(o.s.partner[op])
	}
	return p, o.isDone(p)
}

// advanceStart returns the next point that the start of an operation waits for.
func (o *sorter) advanceStart(f *frame) (next point, ready bool) {
	op := f.p.op()
	preds := o.s.preds[o.s.predFirst[op]:o.s.predFirst[op+1]]
	for ; int(f.pos) < len(preds); f.pos++ {
		if p := preds[f.pos]; !o.isDone(p) {
			return p, false
		}
	}
	if before, ok := o.p.gap(op); ok && !o.isDone(startOf(before)) {
		return startOf(before), false
	}
	if len(preds) > 0 {
		return 0, true
	}
	return o.advanceBlock(f)
}

// advanceBlock returns the next point of the block before.
func (o *sorter) advanceBlock(f *frame) (next point, ready bool) {
	block, ok := o.s.previous(f.p.op())
	if !ok || o.complete[block] {
		return 0, true
	}
	from, to := o.s.graph.BlockOps(int(block))
	for ; from+int(f.pos) < to; f.pos++ {
		if p := endOf(uint32(from) + f.pos); !o.isDone(p) {
			return p, false
		}
	}
	o.complete[block] = true
	return 0, true
}

// equal reports whether an order for one protocol holds for the other.
func (p *protocol) equal(q *protocol) bool {
	return slices.Equal(p.rendezvous, q.rendezvous) && slices.Equal(p.gapBefore, q.gapBefore)
}

// impliesEnd reports whether the end of an operation is not listed but follows from its start.
func (p *protocol) impliesEnd(s *Schedule, op uint32) bool {
	return s.ops[op].Kind != schedule.Recv && !p.isRendezvous(op)
}
