package tolerance

import (
	"math"
	"slices"

	"slackline/model/machine"
	"slackline/model/schedule"
)

// order lists the starts of all operations, and the ends of receives and of rendezvous sends, so that
// each comes behind everything that it waits for; the end of every other operation follows from its
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
	o := &sorter{s: c.s, p: c.protocol(), state: make([]uint8, len(c.s.ops))}
	if c.s.blocks != nil {
		o.complete = make([]bool, len(c.s.blocks.before))
	}
	recvs := c.s.messages
	if o.p.rendezvous != nil {
		recvs *= 2
	}
	o.points = make([]point, 0, len(c.s.ops)+recvs)
	if err := o.visitAll(); err != nil {
		return nil, err
	}
	return &order{o.points, o.p}, nil
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

// Bits of sorter.state.
const (
	startOnStack = 1 << iota
	startDone
	endOnStack
	endDone
)

// frame is a point on the stack, and how many of those that it waits for are known to be done.
type frame struct {
	p   point
	pos uint32
}

// slice is how many operations of a rank are visited before the next rank has its turn.
const slice = 8

// visitAll lists everything. It takes all ranks in turn, some operations each: what belongs to one
// step of the program then lies together, and with it the memory that a pass works on.
func (o *sorter) visitAll() error {
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
			more = more || from+slice < to
		}
	}
	return nil
}

// visit lists the end of an operation and all before it.
func (o *sorter) visit(op uint32) error {
	o.need(endOf(op))
	for len(o.stack) > 0 {
		f := &o.stack[len(o.stack)-1]
		var next point
		var ready bool
		if f.p.isEnd() {
			next, ready = o.advanceEnd(f)
		} else {
			next, ready = o.advanceStart(f)
		}
		switch {
		case ready:
			o.done(f.p)
			o.stack = o.stack[:len(o.stack)-1]
		case o.onStack(next):
			return o.cycleError(next)
		default:
			o.push(next)
		}
	}
	return nil
}

// own turns a point into the one that lists it: the end of an operation is listed with its start if
// it needs nothing else.
func (o *sorter) own(p point) point {
	if p.isEnd() && o.s.ops[p.op()].Kind != schedule.Recv && !o.p.isRendezvous(p.op()) {
		return p &^ 1
	}
	return p
}

func (o *sorter) isDone(p point) bool {
	bit := uint8(startDone)
	if p.isEnd() {
		bit = endDone
	}
	return o.state[p.op()]&bit != 0
}

func (o *sorter) onStack(p point) bool {
	bit := uint8(startOnStack)
	if p.isEnd() {
		bit = endOnStack
	}
	return o.state[p.op()]&bit != 0
}

// need pushes a point unless it is done.
func (o *sorter) need(p point) {
	if p = o.own(p); !o.isDone(p) {
		o.push(p)
	}
}

func (o *sorter) push(p point) {
	bit := uint8(startOnStack)
	if p.isEnd() {
		bit = endOnStack
	}
	o.state[p.op()] |= bit
	o.stack = append(o.stack, frame{p: p})
}

// done lists a point.
func (o *sorter) done(p point) {
	state := &o.state[p.op()]
	if p.isEnd() {
		*state = *state&^endOnStack | endDone
	} else {
		*state = *state&^startOnStack | startDone
	}
	o.points = append(o.points, p)
}

// advanceEnd returns the next point that the end of a receive or of a rendezvous send waits for.
func (o *sorter) advanceEnd(f *frame) (next point, ready bool) {
	op := f.p.op()
	if p := startOf(op); !o.isDone(p) {
		return p, false
	}
	p := startOf(o.s.partner[op])
	if o.s.ops[op].Kind == schedule.Recv {
		p = o.own(endOf(o.s.partner[op]))
	}
	return p, o.isDone(p)
}

// advanceStart returns the next point that the start of an operation waits for.
func (o *sorter) advanceStart(f *frame) (next point, ready bool) {
	op := f.p.op()
	preds := o.s.preds[o.s.predFirst[op]:o.s.predFirst[op+1]]
	for ; int(f.pos) < len(preds); f.pos++ {
		if p := o.own(preds[f.pos]); !o.isDone(p) {
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
		if p := o.own(endOf(uint32(from) + f.pos)); !o.isDone(p) {
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
func (o *order) impliesEnd(s *Schedule, op uint32) bool {
	return s.ops[op].Kind != schedule.Recv && !o.protocol.isRendezvous(op)
}
