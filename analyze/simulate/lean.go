package simulate

import (
	"math/bits"
	"unsafe"

	"slackline/model/machine"
	"slackline/model/schedule"
)

// lean is the core for programs of phases and small graphs: every rank a sequence of blocks without
// dependencies inside, or with dependencies between at most 64 operations; one CPU, one NIC, no
// wildcards. Patterns, skeletons, most collectives and most files are such programs, and they are
// the large ones. It follows the same rules as the general core and gives the same numbers; it is
// fast because it keeps little and keeps it together:
//
//   - A host is 128 bytes. Operations are not events: all operations of a phase become ready at the
//     same moment with the same birth, so a phase is three runs (sends, receives, calculations)
//     with a cursor each, and only messages are queued.
//   - Messages are 48 bytes in one pool and are linked by numbers; no memory holds a pointer, so the
//     garbage collector has nothing to look at.
//   - To send touches four bytes of the receiver, the head of its inbox.
type lean struct {
	*leanState
	costs    costs
	lastLoad uint64
	lastCost machine.Cost
	block    schedule.Block

	exchanges schedule.Exchanger // nil: the stream is none

	lo, hi   int32
	calendar *calendar

	msgs []leanMessage
	free int32

	ops      []leanOp            // slots of the hosts of this thread
	freeSlot [maxSlotBits]uint32 // lists of unused slots by size
	tables   []leanTable         // for hosts with many receives
	noTable  []int32

	// Blocks with dependencies: see lean_graph.go.
	graphs    []leanGraph
	noGraph   []int32  // unused ones
	links     []uint64 // in step with ops
	batches   []readyBatch
	freeBatch int32
	touched   uint64 // see touch

	running   int // ranks that have not come to their end
	left      int // unexpected messages that wait
	visits    int64
	overflow  bool
	unfit     bool // the program has something that this core does not know
	sawLarge  bool // a large message was met, but large is nil
	stats     counters
	thread    int
	shards    []*lean
	out       [2][][]leanMessage
	round     int
	acts      int64
	large     *rendezvous // nil: a large message ends the run
	breakdown []breakdownSum
}

// leanState is the state of all hosts; each is touched only by the thread that owns it.
type leanState struct {
	*problem
	hosts []leanHost
	// Messages that have not been queued yet, as lists by host: those that act in the present and
	// in the next window, by the side of the calendar, and those that act later. Most hosts find
	// one message when they are called, and need no queue.
	inbox [2][]int32
	later []int32
	hints []int32 // by host: where the last question to the noise ended
	owner func(host int32) int

	earlyCount []int32 // by host: number of unexpected messages
}

// leanHost is a rank: two cache lines.
type leanHost struct {
	nexto, nextgs, nextgr int64

	post   int64  // when the operations of the phase were inserted (R3)
	birth  int64  // time of the event that made them ready
	finish int64  // latest finish in the phase so far
	posted uint64 // receives that wait, as bits; with more than 64 receives the number of a table
	gen    uint32 // generation of the operations of the phase
	open   int32  // operations of the phase that have not finished

	queue, tail      int32 // messages to come, in order
	heap             int32 // messages to come that were not in order
	waiting          int32 // messages that found the host busy; unused if messages come in order
	early, earlyTail int32 // unexpected messages, oldest first

	slot                uint32 // operations of the phase; see fillSlot
	sends, recvs, calcs int32  // how many
	sent, recvd, calced int32  // how many of them have started
	cursor              schedule.Cursor
	slotBits            uint8
	// graph: the block has dependencies. Then sent is the number of its leanGraph, the other
	// counts are 0, and birth and gen are those of the next operation.
	graph bool
	_     [2]byte
}

// leanOp is an operation of a phase.
type leanOp struct {
	load uint64 // send: see load; receive: the context in its place; calculation: picoseconds
	peer int32
	tag  uint32
}

// leanMessage is a message under way, or a release.
type leanMessage struct {
	time  int64
	birth int64
	load  uint64
	order uint32 // generation and kind
	from  int32  // sender; release: receiver
	index int32  // of the send; see leanOrder
	tag   uint32
	next  int32
	child int32 // between threads: the receiver
}

// The load of a message is its size, its class and its context in one word.
const (
	sizeBits     = 48
	classShift   = sizeBits
	contextShift = 56
	sizeMask     = 1<<sizeBits - 1
)

func leanSize(load uint64) int64          { return int64(load & sizeMask) }
func leanClass(load uint64) machine.Class { return machine.Class(load >> classShift & 3) }

// sameContext reports whether two loads have the same context.
func sameContext(a, b uint64) bool { return (a^b)>>contextShift == 0 }

func leanOrder(gen uint32, kind uint32) uint32 { return gen<<2 | kind }

// A host must not grow by accident.
var _ [128]byte = [unsafe.Sizeof(leanHost{})]byte{}

func (l *lean) begin() {
	for r := l.lo; r < l.hi; r++ {
		h := &l.hosts[r]
		l.running++
		l.nextPhase(r, h, 0, -1, 0)
		if h.open > 0 {
			l.calendar.wakeNow(r)
		}
	}
}

func (l *lean) runWindow() {
	end := l.calendar.end()
	if l.large != nil {
		l.runLargeWindow(end)
		return
	}
	inbox, later := l.inbox[l.calendar.side][:len(l.hosts)], l.later[:len(l.hosts)]
	// As hostSet.drain, without a call for each host.
	set := &l.calendar.now
	set.any = false
	for si := range set.summary {
		for set.summary[si] != 0 {
			w := si<<6 | bits.TrailingZeros64(set.summary[si])
			set.summary[si] &= set.summary[si] - 1
			word := set.words[w]
			set.words[w] = 0
			l.visits += int64(bits.OnesCount64(word))
			for ; word != 0; word &= word - 1 {
				r := l.lo + int32(w<<6|bits.TrailingZeros64(word))
				h := &l.hosts[r]
				loose := inbox[r]
				inbox[r] = 0
				if loose != 0 && l.msgs[loose].next != 0 || later[r]|h.queue|h.heap|h.waiting != 0 {
					loose = l.gather(r, h, loose)
				}
				if next := l.run(r, h, loose, end); next != never {
					l.calendar.wake(r, next)
				}
			}
		}
	}
}

// gather brings the messages of a host that has several, or may have, into its queues. The loose
// one is that of its inbox; what is returned is still loose.
func (l *lean) gather(r int32, h *leanHost, loose int32) int32 {
	if late := l.later[r]; late != 0 {
		l.later[r] = 0
		if loose == 0 && l.msgs[late].next == 0 && h.queue|h.heap|h.waiting == 0 {
			return late
		}
		l.takeInbox(h, late)
	}
	if loose != 0 {
		l.takeInbox(h, loose)
	}
	return 0
}

// Next events.

const none = int32(-1)

// run carries out the events of a host that happen before end and returns the time of the next
// one, or never. A loose message is the only one of the host and stands in no queue yet: most
// visits have one, and it need not go through the queues.
func (l *lean) run(r int32, h *leanHost, loose int32, end int64) int64 {
	for {
		queued := h.queue|h.heap|h.waiting != 0
		if loose != 0 && queued { // a message to itself has come in between
			l.push(h, loose)
			loose = 0
		}
		if loose == 0 && !queued && !h.graph {
			if at, more := l.burst(r, h, end); !more {
				return at
			}
			continue
		}
		var what int32
		var at int64
		if h.graph {
			what, at = l.nextInGraph(h)
		} else {
			what, at = h.nextLocal()
		}
		m, t, list := loose, never, inNone
		switch {
		case loose != 0:
			t = max(l.msgs[loose].time, h.nexto, h.nextgr)
		case queued:
			m, t, list = l.nextMessage(h)
		}
		if m != 0 && (t < at || t == at && l.bornBeforePhase(m, h)) {
			if t < end {
				if list != inNone {
					l.removeMessage(h, list)
				}
				l.message(r, h, m, t)
				loose = 0
				continue
			}
			at = t
		}
		if at >= end {
			if loose != 0 {
				l.later[r] = loose // it waits there as well as anywhere
			}
			return at
		}
		switch what {
		case opSend:
			l.send(r, h, at)
		case opRecv:
			l.receive(r, h, at)
		default:
			l.calc(r, h, at)
		}
	}
}

// burst carries out operations of a host that has no messages, before end. It reports whether there
// may be more to carry out or else, when the next one happens. Nothing comes between the operations:
// receives without unexpected messages only wait, so that it does not matter whether they are posted
// before or after the sends.
func (l *lean) burst(r int32, h *leanHost, end int64) (at int64, more bool) {
	if h.calced < h.calcs || h.early != 0 && h.recvd < h.recvs {
		return l.single(r, h, end)
	}
	if h.recvd < h.recvs {
		if h.post >= end {
			return h.post, false
		}
		l.receive(r, h, h.post)
	}
	for h.sent < h.sends {
		at := max(h.post, h.nexto, h.nextgs)
		if at >= end {
			return at, false
		}
		last := h.open == 1
		l.send(r, h, at)
		if last || h.queue|h.heap != 0 {
			return 0, true
		}
	}
	return never, false
}

// single carries out the next operation of a host that has no messages, if it comes before end.
func (l *lean) single(r int32, h *leanHost, end int64) (at int64, more bool) {
	what, at := h.nextLocal()
	if at >= end {
		return at, false
	}
	switch what {
	case opSend:
		l.send(r, h, at)
	case opRecv:
		l.receive(r, h, at)
	default:
		l.calc(r, h, at)
	}
	return 0, true
}

// nextLocal returns the kind of the next operation of the phase and when it happens.
func (h *leanHost) nextLocal() (what int32, at int64) {
	what, at = none, never
	if h.sent < h.sends {
		what, at = opSend, max(h.post, h.nexto, h.nextgs)
	}
	if h.recvd < h.recvs && h.post < at {
		what, at = opRecv, h.post
	}
	if h.calced < h.calcs {
		if t := max(h.post, h.nexto); t < at {
			what, at = opCalc, t
		}
	}
	return what, at
}

// bornBeforePhase reports whether message m comes before the operations of the phase when both
// happen at the same time.
func (l *lean) bornBeforePhase(m int32, h *leanHost) bool {
	n := &l.msgs[m]
	if n.birth != h.birth {
		return n.birth < h.birth
	}
	return n.order < leanOrder(h.gen, kindLocal)
}

// cost returns the cost of a message with the given load. It is valid until the next call.
func (l *lean) cost(load uint64) *machine.Cost {
	if load != l.lastLoad {
		l.lastLoad = load
		l.lastCost = *l.costs.of(leanClass(load), leanSize(load))
	}
	return &l.lastCost
}

// Rules. Each function carries out one event of a host at time t.

// cpuEnd is rule R8.
func (l *lean) cpuEnd(r int32, t, work int64) int64 {
	if l.noise == nil {
		return l.add(t, work)
	}
	end := l.noise.Finish(int(r), t, work, &l.hints[r])
	if end < 0 {
		l.overflow = true
		return never
	}
	return end
}

func (l *lean) add(a, b int64) int64 {
	if s := a + b; s >= 0 {
		return s
	}
	l.overflow = true
	return never
}

// calc is rule R4.
func (l *lean) calc(r int32, h *leanHost, t int64) {
	index := h.sends + h.calced
	if h.graph {
		index = l.takeReady(h, opCalc)
	} else {
		h.calced++
	}
	op := &l.ops[h.slot+uint32(index)]
	work := int64(op.load)
	end := l.cpuEnd(r, t, work)
	h.nexto = end
	l.stats.ops++
	if l.breakdown != nil {
		l.breakdown[r].compute += work
		l.breakdown[r].noise += end - t - work
	}
	if h.graph {
		l.settle(r, h, 1<<index, 1<<index, t, h.birth, h.gen)
		return
	}
	l.finishOp(r, h, end, t, h.birth, h.gen)
}

// send is rule R5.
func (l *lean) send(r int32, h *leanHost, t int64) {
	index := h.sent
	if h.graph {
		index = l.takeReady(h, opSend)
	} else {
		h.sent++
	}
	op := l.ops[h.slot+uint32(index)]
	load := op.load
	if !l.uniform {
		load |= uint64(l.layout.Class(int(r), int(op.peer))) << classShift
	} else {
		load |= uint64(l.class) << classShift
	}
	c := l.cost(load)
	if c.Overflow {
		l.overflow = true
	}
	end := l.cpuEnd(r, t, l.add(c.Overhead, c.CPUBytes))
	left := end
	if c.CPUBytes != 0 {
		left = l.cpuEnd(r, t, c.Overhead)
	}
	arrival := l.add(left, c.Latency)
	h.nexto = end
	h.nextgs = l.add(t, l.add(c.Gap, c.Bytes))
	l.stats.ops++
	l.stats.messages++
	if l.breakdown != nil {
		l.breakdown[r].overhead += c.Overhead + c.CPUBytes
		l.breakdown[r].noise += end - t - c.Overhead - c.CPUBytes
	}
	gen := uint32(0)
	if h.birth == t {
		gen = h.gen + 1
	}
	m := l.newMessage()
	n := &l.msgs[m]
	n.time, n.birth, n.load, n.order = arrival, t, load, leanOrder(gen, kindMessage)
	n.from, n.index, n.tag = r, index, op.tag
	l.deliver(r, op.peer, m)
	if c.Rendezvous {
		l.stats.Rendezvous++
		if l.large == nil {
			l.sawLarge = true
			return
		}
		l.large.started(r, arrival)
		if h.graph {
			l.large.hosts[r].graph |= 1 << index
			l.settle(r, h, 1<<index, 0, t, h.birth, h.gen)
		}
		return
	}
	if h.graph {
		l.settle(r, h, 1<<index, 1<<index, t, h.birth, h.gen)
		return
	}
	l.finishOp(r, h, end, t, h.birth, h.gen)
}

// message is rule R6.
func (l *lean) message(r int32, h *leanHost, m int32, t int64) {
	n := &l.msgs[m]
	if n.order&3 == kindRelease {
		l.released(r, h, m, t)
		return
	}
	c := l.cost(n.load)
	var end int64
	if l.noise == nil {
		end = l.add(t, l.add(max(c.CPUBytes, c.Bytes), c.Overhead))
	} else {
		x := l.add(t, c.Bytes)
		if c.CPUBytes != 0 {
			x = max(x, l.cpuEnd(r, t, c.CPUBytes))
		}
		end = l.cpuEnd(r, x, c.Overhead)
	}
	h.nexto = end
	h.nextgr = l.add(t, l.add(c.Gap, c.Bytes))
	if l.breakdown != nil {
		work := max(c.CPUBytes, c.Bytes) + c.Overhead
		l.breakdown[r].overhead += work
		l.breakdown[r].noise += end - t - work
	}
	found, matched := uint64(0), false
	if h.graph {
		found = l.matchInGraph(h, n)
		matched = found != 0
	} else {
		matched = l.matchPosted(h, n)
	}
	if !matched {
		l.stats.Unexpected++
		l.addEarly(r, h, m, end)
		return
	}
	l.stats.Expected++
	birth, gen := n.birth, n.order>>2
	if c.Rendezvous {
		l.release(r, m, t, birth, gen)
	} else {
		l.freeMessage(m)
	}
	if found != 0 {
		l.settle(r, h, 0, found, t, birth, gen)
		return
	}
	l.finishOp(r, h, end, t, birth, gen)
}

// receive is rule R7 for all receives of the phase: nothing can happen between them. Without
// wildcards it is the same whether each receive looks for its oldest message or each message,
// oldest first, for its receive.
func (l *lean) receive(r int32, h *leanHost, t int64) {
	if h.graph {
		l.receiveInGraph(r, h, t)
		return
	}
	h.recvd = h.recvs
	l.stats.ops += int64(h.recvs)
	l.postAll(h)
	if h.early != 0 {
		l.matchEarly(r, h, t)
		return
	}
	l.stats.MaxPosted = max(l.stats.MaxPosted, int(h.recvs))
}

// finishOp notes the finish of an operation in an event with the given time, birth and
// generation, and goes on to the next phase if it was the last one.
func (l *lean) finishOp(r int32, h *leanHost, finish, t, birth int64, gen uint32) {
	h.finish = max(h.finish, finish)
	h.open--
	if h.open == 0 || l.large != nil {
		l.finishPhase(r, h, t, birth, gen)
	}
}

// finishPhase is the rest of finishOp for the last operation of a phase, and for all of them where
// there are large messages.
func (l *lean) finishPhase(r int32, h *leanHost, t, birth int64, gen uint32) {
	if l.large != nil {
		l.large.note(r, &t, &birth, &gen)
	}
	if h.open == 0 {
		l.nextPhase(r, h, t, birth, gen)
	}
}

// nextPhase loads the next phase of a rank, which the event at time t made ready.
func (l *lean) nextPhase(r int32, h *leanHost, t, birth int64, gen uint32) {
	if h.recvs > 64 {
		l.dropTable(h)
	}
	if h.graph {
		l.dropGraph(h)
	}
	if l.exchanges != nil {
		if to, from, size, ok := l.exchanges.NextExchange(int(r), h.cursor, &l.block); ok && h.slotBits > 1 {
			h.cursor.Sub++
			l.fillExchange(h, to, from, size)
			l.beginPhase(r, h, 2, t, birth, gen)
			return
		}
	}
	at, ok := l.stream.Next(int(r), h.cursor, &l.block)
	h.cursor = at
	if !ok {
		h.sends, h.recvs, h.calcs, h.sent, h.recvd, h.calced = 0, 0, 0, 0, 0, 0
		l.running--
		return
	}
	if l.block.Borrowed() {
		l.touch(&l.block)
	}
	if len(l.block.Dependents) > 0 {
		next := uint32(0)
		if birth == t {
			next = gen + 1
		}
		l.loadGraph(r, h, t, next)
		return
	}
	l.fillSlot(h, l.block.Ops)
	l.beginPhase(r, h, len(l.block.Ops), t, birth, gen)
}

// beginPhase makes the operations in the slot of a host ready.
func (l *lean) beginPhase(r int32, h *leanHost, ops int, t, birth int64, gen uint32) {
	h.post = max(h.finish, h.nexto)
	h.finish = 0
	h.birth = t
	h.gen = 0
	if birth == t {
		h.gen = gen + 1
	}
	h.open = int32(ops)
	h.sent, h.recvd, h.calced = 0, 0, 0
	if l.large != nil {
		l.large.newPhase(r)
	}
}

// Slots.

const (
	noSlot      = ^uint32(0)
	maxSlotBits = 32
)

// fillSlot copies the operations of a phase into the slot of a host.
func (l *lean) fillSlot(h *leanHost, ops []schedule.Op) {
	n := len(ops)
	if h.slotBits == 0 || n > 1<<(h.slotBits-1) {
		l.newSlot(h, n)
	}
	// Sends from the front, receives from the back, calculations between them.
	slot := l.ops[h.slot : h.slot+uint32(n)]
	s, r := 0, n
	for i := range ops {
		op := &ops[i]
		switch op.Kind {
		case schedule.Send:
			if op.Size > sizeMask {
				l.unfit = true
			}
			to := &slot[s]
			to.load, to.peer, to.tag = uint64(op.Size)&sizeMask|uint64(op.Context)<<contextShift, op.Peer, op.Tag
			s++
		case schedule.Recv:
			r--
			to := &slot[r]
			to.load, to.peer, to.tag = uint64(op.Context)<<contextShift, op.Peer, op.Tag
		}
	}
	h.sends, h.recvs, h.calcs = int32(s), int32(n-r), int32(r-s)
	if s == r {
		return
	}
	for i := range ops {
		if ops[i].Kind == schedule.Calc {
			slot[s].load = uint64(ops[i].Size)
			s++
		}
	}
}

// fillExchange is fillSlot for one send and one receive of a collective.
func (l *lean) fillExchange(h *leanHost, to, from int32, size int64) {
	if size > sizeMask {
		l.unfit = true
	}
	slot := l.ops[h.slot : h.slot+2]
	slot[0].load, slot[0].peer, slot[0].tag = uint64(size)&sizeMask|uint64(schedule.CollectiveContext)<<contextShift, to, 0
	slot[1].load, slot[1].peer, slot[1].tag = uint64(schedule.CollectiveContext)<<contextShift, from, 0
	h.sends, h.recvs, h.calcs = 1, 1, 0
}

// recv returns the i-th receive of the phase of a host.
func (l *lean) recv(h *leanHost, i int) *leanOp {
	return &l.ops[h.slot+uint32(h.sends+h.calcs+h.recvs)-1-uint32(i)]
}

// newSlot gives a host a slot for n operations and takes the old one back.
func (l *lean) newSlot(h *leanHost, n int) {
	if h.slotBits > 0 {
		l.ops[h.slot].load = uint64(l.freeSlot[h.slotBits-1])
		l.freeSlot[h.slotBits-1] = h.slot
	}
	b := max(bits.Len(uint(n-1)), 1)
	h.slotBits = uint8(b) + 1
	if s := l.freeSlot[b]; s != noSlot {
		h.slot = s
		l.freeSlot[b] = uint32(l.ops[s].load)
		return
	}
	if len(l.ops)+1<<b > 1<<31 {
		l.unfit = true
	}
	h.slot = uint32(len(l.ops))
	for range 1 << b {
		l.ops = append(l.ops, leanOp{})
	}
}
