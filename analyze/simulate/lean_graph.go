package simulate

import (
	"math/bits"
	"unsafe"
)

// This file holds blocks with dependencies in the lean core. Sets of operations are words of 64
// bits, so a block has at most 64 operations; a larger one is for the general core.
//
// No operation is an event here either. A host with one CPU never does anything after nexto, and
// whatever finishes in an event has finished when the CPU is free. So all operations that an event
// makes ready are inserted at nexto (R3), with the same birth and generation: they are a batch.
// Events happen in the order of their keys, so later batches have later births, generations and
// times, and the ready operations of a kind are a queue of batches, each in the order of the
// indices. Sends and calculations begin when their resources are free, whatever their batch.

// maxGraphOps is the largest number of operations of a block with dependencies.
const maxGraphOps = 64

// leanGraph is what a host keeps about a block with dependencies beside its slot: two cache lines,
// of which an event that makes nothing ready and finds nothing ready needs the first.
type leanGraph struct {
	ready [3]uint64 // by kind: the first of the batches that are ready and have not started
	kinds [2]uint64 // the sends, the receives; all others are calculations
	// Those for whose start or finish others wait.
	awaitedStart, awaitedFinish uint64
	size                        int32 // number of operations
	_                           int32

	born [3]readyBirth // of the first batches
	post int64         // when the first batch of receives is posted
	_    int64
}

// It must not grow by accident.
var _ [128]byte = [unsafe.Sizeof(leanGraph{})]byte{}

// readyBirth is when a batch was born.
type readyBirth struct {
	birth int64
	gen   uint32
	next  int32 // the batch after it, in lean.batches; 0: none
}

// readyBatch is operations of a kind that became ready together, but not the first ones.
type readyBatch struct {
	readyBirth
	ops  uint64
	post int64
}

// The links of a block are words beside its slot, three for each operation: what each operation
// waits for still, and then for each one that is awaited who waits for its start and who for its
// finish.

const linksPerOp = 3

// linksOf returns the links of the block of a host, without those in front.
func (l *lean) linksOf(h *leanHost) []uint64 { return l.links[linksPerOp*uint64(h.slot):] }

// awaited returns where in the links an operation, given as a set, lists what waits for its start;
// what waits for its finish is next to it.
func (g *leanGraph) awaited(op uint64) int {
	return int(g.size) + 2*bits.OnesCount64((g.awaitedStart|g.awaitedFinish)&(op-1))
}

// nextInGraph is nextLocal for a block with dependencies. It leaves the birth and the generation of
// the operation in the host.
func (l *lean) nextInGraph(h *leanHost) (what int32, at int64) {
	g := &l.graphs[h.sent]
	what, at = none, never
	if g.ready[opSend] != 0 {
		what, at = opSend, max(h.nexto, h.nextgs)
		h.birth, h.gen = g.born[opSend].birth, g.born[opSend].gen
	}
	if g.ready[opRecv] != 0 && (g.post < at || g.post == at && g.born[opRecv].before(h)) {
		what, at = opRecv, g.post
		h.birth, h.gen = g.born[opRecv].birth, g.born[opRecv].gen
	}
	if g.ready[opCalc] != 0 && (h.nexto < at || h.nexto == at && g.born[opCalc].before(h)) {
		what, at = opCalc, h.nexto
		h.birth, h.gen = g.born[opCalc].birth, g.born[opCalc].gen
	}
	return what, at
}

// before reports whether a batch was born before the operation whose birth and generation the host
// holds.
func (b *readyBirth) before(h *leanHost) bool {
	return b.birth < h.birth || b.birth == h.birth && b.gen < h.gen
}

// takeReady takes the first send or calculation that is ready, and returns its index.
func (l *lean) takeReady(h *leanHost, kind int32) int32 {
	g := &l.graphs[h.sent]
	i := bits.TrailingZeros64(g.ready[kind])
	g.ready[kind] &= g.ready[kind] - 1
	if g.ready[kind] == 0 {
		l.nextBatch(g, kind)
	}
	return int32(i)
}

// nextBatch puts the second batch of a kind, if there is one, into the place of the first.
func (l *lean) nextBatch(g *leanGraph, kind int32) {
	i := g.born[kind].next
	if i == 0 {
		return
	}
	b := &l.batches[i]
	g.ready[kind], g.born[kind] = b.ops, b.readyBirth
	if kind == opRecv {
		g.post = b.post
	}
	b.next = l.freeBatch
	l.freeBatch = i
}

// addBatch puts a batch after those of its kind, or into the last one if they were born together.
func (l *lean) addBatch(g *leanGraph, kind int32, b readyBatch) {
	if g.ready[kind] == 0 {
		g.ready[kind], g.born[kind] = b.ops, b.readyBirth
		if kind == opRecv {
			g.post = b.post
		}
		return
	}
	ops, last, post := &g.ready[kind], &g.born[kind], int64(0)
	if kind == opRecv {
		post = g.post
	}
	for last.next != 0 {
		n := &l.batches[last.next]
		ops, last, post = &n.ops, &n.readyBirth, n.post
	}
	if last.birth == b.birth && last.gen == b.gen && post == b.post {
		*ops |= b.ops
		return
	}
	l.newBatch(b, &last.next)
}

// newBatch keeps a batch and sets the number that leads to it.
func (l *lean) newBatch(b readyBatch, number *int32) {
	if i := l.freeBatch; i != 0 {
		l.freeBatch = l.batches[i].next
		l.batches[i] = b
		*number = i
		return
	}
	if len(l.batches) == 0 {
		l.batches = append(l.batches, readyBatch{}) // 0 is no batch
	}
	*number = int32(len(l.batches)) // now, since it may be in a batch, which may move
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
		links := l.linksOf(h)
		ready |= satisfy(links, links[g.awaited(b&-b)], b&-b)
	}
	for b := finished & g.awaitedFinish; b != 0; b &= b - 1 {
		links := l.linksOf(h)
		ready |= satisfy(links, links[g.awaited(b&-b)+1], b&-b)
	}
	if ready != 0 {
		l.makeReady(h, g, ready, t, birth, gen)
	}
}

// satisfy notifies the operations of a set that one that they have waited for has started or finished,
// and returns those that wait for no other.
func satisfy(links []uint64, waiting, on uint64) (ready uint64) {
	for w := waiting; w != 0; w &= w - 1 {
		needs := &links[bits.TrailingZeros64(w)]
		*needs &^= on
		if *needs == 0 {
			ready |= w & -w
		}
	}
	return ready
}

// makeReady inserts operations that an event with the given time, birth and generation has made
// ready (R3).
func (l *lean) makeReady(h *leanHost, g *leanGraph, ready uint64, t, birth int64, gen uint32) {
	b := readyBatch{readyBirth: readyBirth{birth: t}}
	if birth == t {
		b.gen = gen + 1
	}
	if b.ops = ready & g.kinds[opSend]; b.ops != 0 {
		l.addBatch(g, opSend, b)
	}
	if b.ops = ready &^ (g.kinds[opSend] | g.kinds[opRecv]); b.ops != 0 {
		l.addBatch(g, opCalc, b)
	}
	if b.ops = ready & g.kinds[opRecv]; b.ops != 0 {
		b.post = h.nexto
		l.addBatch(g, opRecv, b)
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
	g := &l.graphs[h.sent]
	birth, gen, posted := h.birth, h.gen, g.ready[opRecv]
	g.ready[opRecv] = 0
	l.nextBatch(g, opRecv)
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

// checkOrder gives up if receives are about to be posted after older ones with a larger index that
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
	g := &l.graphs[h.sent]
	links := l.linksOf(h)
	for x := exposed & g.awaitedFinish; x != 0; x &= x - 1 {
		for w := links[g.awaited(x&-x)+1]; w != 0; w &= w - 1 {
			if links[bits.TrailingZeros64(w)]&^exposed == 0 {
				return true
			}
		}
	}
	return false
}
