package simulate

import (
	"math/bits"
	"unsafe"

	"slackline/model/schedule"
)

// This file holds blocks with dependencies in the lean core. Sets of operations are words of 64
// bits, so a block has at most 64 operations; a larger one is for the general core.
//
// No operation is an event here either. A host with one CPU never does anything behind nexto, and
// whatever finishes in an event has finished when the CPU is free. So all operations that an event
// makes ready are inserted at nexto (R3), with the same birth and generation: they are a batch.
// Events happen in the order of their keys, so later batches have later births, generations and
// times, and the ready operations of a kind are a queue of batches, each in the order of the
// indices. Sends and calculations begin when their resources are free, whatever their batch.

// maxGraphOps is the largest number of operations of a block with dependencies.
const maxGraphOps = 64

// leanGraph is what a host keeps about a block with dependencies beside its slot: two cache lines.
type leanGraph struct {
	ready [3]readyBatch // by kind: the first of the batches that are ready and have not started
	kinds [2]uint64     // the sends, the receives; all others are calculations
	// Those for whose start or finish somebody waits; the links of the others are not looked at.
	awaitedStart, awaitedFinish uint64
}

// It must not grow by accident.
var _ [128]byte = [unsafe.Sizeof(leanGraph{})]byte{}

// readyBatch is operations of a kind that became ready together.
type readyBatch struct {
	ops   uint64
	birth int64
	post  int64 // receives: when they are posted
	gen   uint32
	next  int32 // the batch behind it, in lean.batches; 0: none
}

// graphLink says who waits for an operation, and for whom it waits.
type graphLink struct {
	onFinish, onStart uint64 // these wait for its finish, for its start
	needs             uint64 // it waits for these still
}

// loadGraph takes l.block, which has dependencies, as the block of a host, made ready by an event
// at time t; gen is the generation of what it makes ready.
func (l *lean) loadGraph(r int32, h *leanHost, t int64, gen uint32) {
	ops := l.block.Ops
	if len(ops) > maxGraphOps {
		l.unfit = true
		h.open = -1
		return
	}
	n := uint32(len(ops))
	if h.slotBits == 0 || n > 1<<(h.slotBits-1) {
		l.newSlot(h, int(n))
	}
	if missing := len(l.ops) - len(l.links); missing > 0 {
		l.links = append(l.links, make([]graphLink, missing)...)
	}
	i := l.newGraph()
	h.graph = true
	h.sends, h.recvs, h.calcs, h.recvd, h.calced = 0, 0, 0, 0, 0
	h.sent = i
	g := &l.graphs[i]
	g.kinds = l.fillGraph(l.ops[h.slot:h.slot+n], ops)

	roots := ^uint64(0) >> (64 - n) &^ g.link(l.links[h.slot:h.slot+n], l.block.First, l.block.Dependents)
	sends, recvs := roots&g.kinds[opSend], roots&g.kinds[opRecv]
	g.ready[opSend] = readyBatch{ops: sends, birth: t, gen: gen}
	g.ready[opRecv] = readyBatch{ops: recvs, birth: t, gen: gen, post: h.nexto}
	g.ready[opCalc] = readyBatch{ops: roots &^ (sends | recvs), birth: t, gen: gen}
	h.posted = 0
	h.finish = 0
	h.open = int32(n)
	if l.large != nil {
		l.large.newPhase(r)
	}
}

// fillGraph copies the operations of a block into a slot, in their order, and returns which of them
// are sends and receives.
func (l *lean) fillGraph(slot []leanOp, ops []schedule.Op) (kinds [2]uint64) {
	for i := range slot {
		op := &ops[i]
		switch op.Kind {
		case schedule.Send:
			if op.Size > sizeMask {
				l.unfit = true
			}
			kinds[opSend] |= 1 << i
			slot[i] = leanOp{uint64(op.Size)&sizeMask | uint64(op.Context)<<contextShift, op.Peer, op.Tag}
		case schedule.Recv:
			kinds[opRecv] |= 1 << i
			slot[i] = leanOp{uint64(op.Context) << contextShift, op.Peer, op.Tag}
		default:
			slot[i] = leanOp{load: uint64(op.Size)}
		}
	}
	return kinds
}

// link fills the links of a block and returns which operations wait for others.
func (g *leanGraph) link(links []graphLink, first []uint32, dependents []schedule.Dependent) (waiting uint64) {
	clear(links)
	g.awaitedStart, g.awaitedFinish = 0, 0
	for i := range links {
		from, to := first[i], first[i+1]
		if from == to {
			continue
		}
		onStart, onFinish := uint64(0), uint64(0)
		for _, d := range dependents[from:to] {
			w := d.Index()
			if d.OnStart() {
				onStart |= 1 << w
			} else {
				onFinish |= 1 << w
			}
			links[w].needs |= 1 << i
		}
		waiting |= onStart | onFinish
		onStart &^= onFinish // what has finished has started
		links[i].onStart, links[i].onFinish = onStart, onFinish
		if onStart != 0 {
			g.awaitedStart |= 1 << i
		}
		if onFinish != 0 {
			g.awaitedFinish |= 1 << i
		}
	}
	return waiting
}

func (l *lean) newGraph() int32 {
	if n := len(l.noGraph); n > 0 {
		i := l.noGraph[n-1]
		l.noGraph = l.noGraph[:n-1]
		return i
	}
	l.graphs = append(l.graphs, leanGraph{})
	return int32(len(l.graphs) - 1)
}

// dropGraph gives the leanGraph of a host back, whose block has ended.
func (l *lean) dropGraph(h *leanHost) {
	l.noGraph = append(l.noGraph, h.sent)
	h.graph = false
	h.sent = 0
}

// nextInGraph is nextLocal for a block with dependencies. It leaves the birth and the generation of
// the operation in the host.
func (l *lean) nextInGraph(h *leanHost) (what int32, at int64) {
	g := &l.graphs[h.sent]
	what, at = none, never
	if q := &g.ready[opSend]; q.ops != 0 {
		what, at = opSend, max(h.nexto, h.nextgs)
		h.birth, h.gen = q.birth, q.gen
	}
	if q := &g.ready[opRecv]; q.ops != 0 {
		if q.post < at || q.post == at && q.bornBefore(h) {
			what, at = opRecv, q.post
			h.birth, h.gen = q.birth, q.gen
		}
	}
	if q := &g.ready[opCalc]; q.ops != 0 {
		if h.nexto < at || h.nexto == at && q.bornBefore(h) {
			what, at = opCalc, h.nexto
			h.birth, h.gen = q.birth, q.gen
		}
	}
	return what, at
}

// bornBefore reports whether a batch was born before the operation whose birth and generation the
// host holds.
func (q *readyBatch) bornBefore(h *leanHost) bool {
	return q.birth < h.birth || q.birth == h.birth && q.gen < h.gen
}

// takeReady takes the first send or calculation that is ready, and returns its index.
func (l *lean) takeReady(h *leanHost, kind int32) int32 {
	q := &l.graphs[h.sent].ready[kind]
	i := bits.TrailingZeros64(q.ops)
	q.ops &= q.ops - 1
	if q.ops == 0 && q.next != 0 {
		l.nextBatch(q)
	}
	return int32(i)
}

// nextBatch puts the second batch of a queue into the place of the first.
func (l *lean) nextBatch(q *readyBatch) {
	i := q.next
	b := &l.batches[i]
	*q = *b
	b.next = l.freeBatch
	l.freeBatch = i
}

// addBatch puts a batch at the end of a queue, or into the last one if they were born together.
func (l *lean) addBatch(q *readyBatch, b readyBatch) {
	if q.ops == 0 {
		*q = b
		return
	}
	last := q
	for last.next != 0 {
		last = &l.batches[last.next]
	}
	if last.birth == b.birth && last.gen == b.gen && last.post == b.post {
		last.ops |= b.ops
		return
	}
	i := l.freeBatch
	if i != 0 {
		l.freeBatch = l.batches[i].next
		l.batches[i] = b
		last.next = i
		return
	}
	if len(l.batches) == 0 {
		l.batches = append(l.batches, readyBatch{}) // 0 is no batch
	}
	// Appending may move the last batch: link first.
	last.next = int32(len(l.batches))
	l.batches = append(l.batches, b)
}

// settle notes the operations that have started and finished in an event with the given time, birth
// and generation, makes ready what has waited for them, and goes on to the next block if they were
// the last ones.
func (l *lean) settle(r int32, h *leanHost, started, finished uint64, t, birth int64, gen uint32) {
	if l.large != nil {
		l.large.note(r, &t, &birth, &gen)
	}
	h.open -= int32(bits.OnesCount64(finished))
	if h.open == 0 {
		h.finish = t
		l.nextPhase(r, h, t, birth, gen)
		return
	}
	g := &l.graphs[h.sent]
	ready := uint64(0)
	for b := started & g.awaitedStart; b != 0; b &= b - 1 {
		i := bits.TrailingZeros64(b)
		ready |= l.satisfy(h, l.links[h.slot+uint32(i)].onStart, b&-b)
	}
	for b := finished & g.awaitedFinish; b != 0; b &= b - 1 {
		i := bits.TrailingZeros64(b)
		ready |= l.satisfy(h, l.links[h.slot+uint32(i)].onFinish, b&-b)
	}
	if ready != 0 {
		l.makeReady(h, g, ready, t, birth, gen)
	}
}

// satisfy tells the operations of a set that one that they have waited for has started or finished,
// and returns those that wait for no other.
func (l *lean) satisfy(h *leanHost, waiting, on uint64) (ready uint64) {
	links := l.links[h.slot:]
	for w := waiting; w != 0; w &= w - 1 {
		k := &links[bits.TrailingZeros64(w)]
		k.needs &^= on
		if k.needs == 0 {
			ready |= w & -w
		}
	}
	return ready
}

// makeReady inserts operations that an event with the given time, birth and generation has made
// ready (R3).
func (l *lean) makeReady(h *leanHost, g *leanGraph, ready uint64, t, birth int64, gen uint32) {
	b := readyBatch{birth: t}
	if birth == t {
		b.gen = gen + 1
	}
	if b.ops = ready & g.kinds[opSend]; b.ops != 0 {
		l.addBatch(&g.ready[opSend], b)
	}
	if b.ops = ready &^ (g.kinds[opSend] | g.kinds[opRecv]); b.ops != 0 {
		l.addBatch(&g.ready[opCalc], b)
	}
	if b.ops = ready & g.kinds[opRecv]; b.ops != 0 {
		b.post = h.nexto
		l.addBatch(&g.ready[opRecv], b)
	}
}

// matchInGraph removes the oldest posted receive that accepts a message, and returns it as a set.
func (l *lean) matchInGraph(h *leanHost, n *leanMessage) uint64 {
	ops := l.ops[h.slot:]
	for b := h.posted; b != 0; b &= b - 1 {
		op := &ops[bits.TrailingZeros64(b)]
		if op.peer == n.from && op.tag == n.tag && sameContext(op.load, n.load) {
			found := b & -b
			h.posted &^= found
			return found
		}
	}
	return 0
}

// receiveInGraph is rule R7 for a batch of receives: as in a phase nothing can happen between them.
func (l *lean) receiveInGraph(r int32, h *leanHost, t int64) {
	q := &l.graphs[h.sent].ready[opRecv]
	birth, gen, posted := h.birth, h.gen, q.ops
	q.ops = 0
	if q.next != 0 {
		l.nextBatch(q)
	}
	l.stats.ops += int64(bits.OnesCount64(posted))
	if h.posted > posted&-posted {
		l.checkOrder(h, posted)
	}
	h.posted |= posted
	finished := uint64(0)
	if h.early != 0 {
		finished = l.matchEarlyInGraph(r, h, t, birth, gen)
	}
	l.stats.MaxPosted = max(l.stats.MaxPosted, bits.OnesCount64(h.posted))
	l.settle(r, h, posted, finished, t, birth, gen)
}

// checkOrder gives up if receives are about to be posted behind older ones with a larger index that
// accept the same messages: receives are found by index.
func (l *lean) checkOrder(h *leanHost, posted uint64) {
	ops := l.ops[h.slot:]
	for p := posted; p != 0; p &= p - 1 {
		i := bits.TrailingZeros64(p)
		a := &ops[i]
		for b := h.posted >> i << i; b != 0; b &= b - 1 {
			c := &ops[bits.TrailingZeros64(b)]
			if a.peer == c.peer && a.tag == c.tag && a.load == c.load {
				l.unfit = true
			}
		}
	}
}

// matchEarlyInGraph matches receives that have just been posted at t with unexpected messages, and
// returns those that have found one.
func (l *lean) matchEarlyInGraph(r int32, h *leanHost, t, birth int64, gen uint32) (finished uint64) {
	last := int32(0)
	for m := h.early; m != 0; {
		n := &l.msgs[m]
		next := n.next
		found := l.matchInGraph(h, n)
		if found == 0 {
			last = m
			m = next
			continue
		}
		finished |= found
		if last == 0 {
			h.early = next
		} else {
			l.msgs[last].next = next
		}
		l.left--
		l.earlyCount[r]--
		if l.isLarge(n) {
			l.release(r, m, t, birth, gen)
		} else {
			l.freeMessage(m)
		}
		m = next
	}
	h.earlyTail = last
	return finished
}

// critical reports whether a release could make something ready on a host: an operation that waits
// for nothing but exposed sends, or the next block. Until then a release and the other events of
// the host commute.
func (l *lean) critical(h *leanHost, exposed uint64) bool {
	if int(h.open) == bits.OnesCount64(exposed) {
		return true
	}
	links := l.links[h.slot:]
	for x := exposed; x != 0; x &= x - 1 {
		for d := links[bits.TrailingZeros64(x)].onFinish; d != 0; d &= d - 1 {
			if links[bits.TrailingZeros64(d)].needs&^exposed == 0 {
				return true
			}
		}
	}
	return false
}

// largeGraphs reports whether a program in memory has a block that is too large for the lean core.
func (r *run) largeGraphs() bool {
	g, ok := r.program.(*schedule.Graph)
	if !ok || g.Shape().Collectives {
		return false
	}
	for block := range g.NumBlocks() {
		if from, to := g.BlockOps(block); to-from > maxGraphOps {
			if _, dependents := g.Links(block); len(dependents) > 0 {
				return true
			}
		}
	}
	return false
}
