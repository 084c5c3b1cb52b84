package tolerance

import (
	"math"
	"slices"

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

// message returns the cost of the message of a send. It is valid until the next call.
func (w *whole) message(c *coster, send uint32) *message {
	op := &w.ops[send]
	return c.of(w.source(send), int(op.Peer), op.Size, op.IsBuffered())
}

// protocol finds out which messages are rendezvous and which sends wait for a gap.
func (w *whole) protocol(c *coster) protocol {
	return protocol{w.findRendezvous(c), w.findGaps(c)}
}

func (w *whole) findRendezvous(c *coster) []uint64 {
	var bits []uint64
	for i := range w.ops {
		if op := &w.ops[i]; op.Kind == schedule.Send && w.message(c, uint32(i)).rendezvous {
			if bits == nil {
				bits = make([]uint64, len(w.ops)/64+1)
			}
			bits[i>>6] |= 1 << (i & 63)
		}
	}
	return bits
}

// findGaps chains the sends of each rank and nic in file order.
func (w *whole) findGaps(c *coster) []uint32 {
	if !c.hasGaps() || w.messages == 0 {
		return nil
	}
	before := make([]uint32, len(w.ops))
	var last [math.MaxUint8 + 1]uint32 // by nic
	for rank := range w.graph.Ranks() {
		for i := range last {
			last[i] = noOp
		}
		for i := w.graph.FirstOp(rank); i < w.graph.FirstOp(rank+1); i++ {
			before[i] = noOp
			op := &w.ops[i]
			if op.Kind != schedule.Send || isAgent(op) {
				continue
			}
			before[i] = last[op.NIC]
			last[op.NIC] = noOp
			if w.message(c, uint32(i)).gap > 0 {
				last[op.NIC] = uint32(i)
			}
		}
	}
	return before
}

// order finds the order for the protocol of a network, or a *schedule.CycleError.
func (w *whole) order(c *coster) (*order, error) {
	o := &sorter{s: w, p: w.protocol(c), state: make([]uint8, len(w.ops))}
	for op := range o.state {
		if o.p.impliesEnd(w, uint32(op)) {
			o.state[op] = impliesEnd
		}
	}
	if w.blocks != nil {
		o.complete = make([]bool, len(w.blocks.before))
	}
	recvs := w.messages
	if o.p.rendezvous != nil {
		recvs *= 2
	}
	o.points = make([]point, 0, len(w.ops)+recvs)
	if err := o.visitAll(); err != nil {
		return nil, err
	}
	return &order{o.points, o.p}, nil
}

// sorter puts points into order: it goes to a point, first to all that this waits for, and lists it
// when they are done. The way to the present point is a stack.
type sorter struct {
	s        *whole
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
// step of the program then lies together, and with it the memory that is worked on.
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

// impliesEnd reports whether the end of an operation is not listed but follows from its start.
func (p *protocol) impliesEnd(s *whole, op uint32) bool {
	return s.ops[op].Kind != schedule.Recv && !p.isRendezvous(op)
}

// cycleError names the operations on the stack from a point on, for which the last one waits.
func (o *sorter) cycleError(from point) error {
	at := slices.IndexFunc(o.stack, func(f frame) bool { return f.p == from })
	var ops []uint32
	for _, f := range o.stack[at:] {
		if op := f.p.op(); len(ops) == 0 || ops[len(ops)-1] != op { // else start and end of one operation
			ops = append(ops, op)
		}
	}
	if n := len(ops); n > 1 && ops[0] == ops[n-1] {
		ops = ops[:n-1]
	}
	slices.Reverse(ops) // the stack has what is waited for after the one that waits
	return schedule.NewCycleError(o.s.graph, ops)
}
