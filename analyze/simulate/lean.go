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

	firstRank int32 // of the partition; here too, since it is needed all the time
	calendar  *calendar

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
	unfit     bool // the program has something that this core does not support
	sawLarge  bool // a large message was met, but large is nil
	stats     counters
	thread    int
	deal      deal // which thread has which hosts
	shards    []*lean
	mail      mail[leanMessage] // to the other threads
	large     *rendezvous       // nil: a large message ends the run
	breakdown []breakdownSum
	ports     ports // to other processes
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
	// positions of the hosts in the noise; nil: that is the simulated time.
	positions []int64

	earlyCount []int32 // by host: number of unexpected messages
}

// leanHost is a rank: two cache lines. Its number is that in the partition of the process; the ranks in
// operations and messages are those of the whole.
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
	child int32 // between threads: the receiver, as a host of the partition
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

// sameContext reports whether two loads have the same context; how a message is sent is not part of it.
func sameContext(a, b uint64) bool { return (a^b)&^bufferedLoad>>contextShift == 0 }

// bufferedLoad is the bit of the load of a message that its sender does not wait for, whatever its size.
const bufferedLoad = uint64(schedule.Buffered) << contextShift

// waitedFor reports whether the sender of a message with this load and cost waits for its receive.
func waitedFor(load uint64, c *machine.Cost) bool { return c.Rendezvous && load&bufferedLoad == 0 }

func leanOrder(gen uint32, kind uint32) uint32 { return gen<<2 | kind }

// A host must not grow by accident.
var _ [128]byte = [unsafe.Sizeof(leanHost{})]byte{}

func (l *lean) begin() {
	l.deal.each(l.thread, func(r int32) {
		h := &l.hosts[r]
		l.running++
		l.nextPhase(r, h, 0, -1, 0)
		if h.open > 0 {
			l.calendar.wakeNow(r)
		}
	})
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
			if l.sawLarge {
				return // this attempt is given up
			}
			w := si<<6 | bits.TrailingZeros64(set.summary[si])
			set.summary[si] &= set.summary[si] - 1
			word := set.words[w]
			set.words[w] = 0
			l.visits += int64(bits.OnesCount64(word))
			for ; word != 0; word &= word - 1 {
				r := int32(w<<6 | bits.TrailingZeros64(word))
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
// one, or never. A loose message is the only one of the host and is in no queue yet: most
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
