package simulate

import "math/bits"

// This file holds large messages in the lean core (rule R9). A release acts on the sender in the
// instant of the match, without latency, so hosts are no longer independent inside a window. But
// a send that starts in a window cannot be matched in it, since its message arrives at its end or
// later. So only a host with sends that are under way ("exposed") must take care, and only when
// nothing but their releases is missing to end its phase: before that a release and the other
// events of the host commute. Such a host stops before its next event. When all others have come
// to the end of the window, the stopped host with the smallest next key may go on by one event:
// whatever could still release it has larger keys. In a block with dependencies the host must also
// stop when an operation waits for nothing but exposed sends, and then before releases too: each
// of them may make something ready, so they must come in order.
//
// Releases go to hosts of any thread at once, so this mode runs on one thread of each process. How
// processes go through a window together: see link.go.

// rendezvous is what the lean core keeps about large messages.
type rendezvous struct {
	hosts    []exposure
	stopped  minHeap[stoppedHost]
	released bool // a release went to another process in this round
}

// exposure is the state of one host.
type exposure struct {
	sends int32  // large sends of the phase that have started and are not released
	stamp uint32 // counts the visits of the host, so that old entries in stopped are known
	// first is when the first of the messages arrives, or earlier.
	first int64
	// The largest key among the events that have finished an operation of the phase. It is the
	// one that makes the next phase ready, even if a release with a smaller key comes last.
	time, birth int64
	gen         uint32
	graph       uint64 // in a block with dependencies: which sends they are
}

// stoppedHost is a host that waits, with the key of its next event.
type stoppedHost struct {
	time, birth int64
	order       uint32
	a, b        int32
	host        int32
	stamp       uint32
}

func newRendezvous(hosts int) *rendezvous {
	z := &rendezvous{hosts: make([]exposure, hosts)}
	z.stopped.less = stoppedBefore
	return z
}

// stoppedBefore orders stopped hosts by the keys of their next events.
func stoppedBefore(x, y *stoppedHost) bool {
	switch {
	case x.time != y.time:
		return x.time < y.time
	case x.birth != y.birth:
		return x.birth < y.birth
	case x.order != y.order:
		return x.order < y.order
	case x.a != y.a:
		return x.a < y.a
	case x.b != y.b:
		return x.b < y.b
	}
	return x.host < y.host
}

// started notes a large send whose message arrives at the given time.
func (z *rendezvous) started(r int32, arrival int64) {
	e := &z.hosts[r]
	e.sends++
	e.first = min(e.first, arrival)
}

// newPhase forgets what was kept about the phase before.
func (z *rendezvous) newPhase(r int32) {
	e := &z.hosts[r]
	e.first = never
	e.time = -1
}

// note takes the key of an event that finishes an operation, and puts the largest of the phase in
// its place.
func (z *rendezvous) note(r int32, t, birth *int64, gen *uint32) {
	e := &z.hosts[r]
	if e.time > *t || e.time == *t && (e.birth > *birth || e.birth == *birth && e.gen > *gen) {
		*t, *birth, *gen = e.time, e.birth, e.gen
		return
	}
	e.time, e.birth, e.gen = *t, *birth, *gen
}

// runLargeWindow is runWindow with large messages.
func (l *lean) runLargeWindow(end int64) {
	for {
		l.runUnstopped(end)
		if l.large.firstStopped() == nil || l.failed() {
			return
		}
		l.visitLarge(l.large.stopped.pop().host, end, true)
	}
}

// runUnstopped carries out the events of all hosts until all have come to the end of the window or
// have stopped.
func (l *lean) runUnstopped(end int64) {
	for !l.calendar.now.empty() {
		l.calendar.now.drain(func(host int32) { l.visitLarge(host, end, false) })
	}
}

// firstStopped returns the stopped host with the smallest next key, or nil.
func (z *rendezvous) firstStopped() *stoppedHost {
	for z.stopped.len() > 0 {
		if top := z.stopped.top(); z.hosts[top.host].stamp == top.stamp {
			return top
		}
		z.stopped.pop()
	}
	return nil
}

// visitLarge carries out the events of a host as far as it may go in this window; if forced, at
// least one.
func (l *lean) visitLarge(r int32, end int64, forced bool) {
	h := &l.hosts[r]
	e := &l.large.hosts[r]
	e.stamp++
	l.visits++
	for _, box := range [...]*int32{&l.later[r], &l.inbox[l.calendar.side][r]} {
		if m := *box; m != 0 {
			*box = 0
			l.takeInbox(h, m)
		}
	}
	for ; ; forced = false {
		var what int32
		var at int64
		if h.graph {
			what, at = l.nextInGraph(h)
		} else {
			what, at = h.nextLocal()
		}
		m, list := int32(0), 0
		if h.queue|h.heap|h.waiting != 0 {
			if n, t, in := l.nextMessage(h); t < at || t == at && l.bornBeforePhase(n, h) {
				m, at, list = n, t, in
			}
		}
		if at >= end {
			if at != never {
				l.calendar.wake(r, at)
			}
			return
		}
		if !forced && e.sends > 0 && e.first < end && l.mustStop(h, e, m) {
			l.stop(r, h, what, m, at)
			return
		}
		switch {
		case m != 0:
			l.removeMessage(h, list)
			l.message(r, h, m, at)
		case what == opSend:
			l.send(r, h, at)
		case what == opRecv:
			l.receive(r, h, at)
		default:
			l.calc(r, h, at)
		}
	}
}

// mustStop reports whether a host with exposed sends must stop before its next event: message m, or
// an operation if m is 0.
func (l *lean) mustStop(h *leanHost, e *exposure, m int32) bool {
	if h.graph {
		return l.critical(h, e.graph)
	}
	return h.open == e.sends && (m == 0 || l.msgs[m].order&3 != kindRelease)
}

// stop puts a host among the stopped ones, with its next event: message m, or an operation.
func (l *lean) stop(r int32, h *leanHost, what, m int32, at int64) {
	s := stoppedHost{time: at, host: r, stamp: l.large.hosts[r].stamp}
	if m != 0 {
		n := &l.msgs[m]
		s.birth, s.order, s.a, s.b = n.birth, n.order, n.from, n.index
	} else {
		s.birth, s.order, s.a = h.birth, leanOrder(h.gen, kindLocal), what
		switch {
		case h.graph:
			s.b = int32(bits.TrailingZeros64(l.graphs[h.sent].ready[what]))
		case what == opSend:
			s.b = h.sent
		case what == opCalc:
			s.b = h.calced
		}
	}
	l.large.stopped.push(s)
}

// release turns message m, matched on host r in an event with the given key, into the release of
// its sender.
func (l *lean) release(r, m int32, t, birth int64, gen uint32) {
	n := &l.msgs[m]
	sender := n.from
	*n = leanMessage{time: t, birth: birth, order: leanOrder(gen, kindRelease), from: r + l.firstRank, index: n.index}
	sender -= l.firstRank
	if sender == r {
		l.push(&l.hosts[r], m)
		return
	}
	if uint32(sender) >= uint32(len(l.hosts)) {
		l.large.released = true
		l.depart(sender, m, n)
		return
	}
	box := &l.inbox[l.calendar.side][sender]
	n.next = *box
	*box = m
	l.calendar.wakeNow(sender)
}

// released is the rest of rule R9, on the host of the sender. When the send's own CPU work ended need
// not be known: the CPU is busy until then, so the next phase starts later in any case.
func (l *lean) released(r int32, h *leanHost, m int32, t int64) {
	n := &l.msgs[m]
	birth, gen, index := n.birth, n.order>>2, n.index
	l.freeMessage(m)
	l.large.hosts[r].sends--
	h.nexto = max(h.nexto, t)
	h.nextgs = max(h.nextgs, t)
	if h.graph {
		l.large.hosts[r].graph &^= 1 << index
		l.settle(r, h, 0, 1<<index, t, birth, gen)
		return
	}
	l.finishOp(r, h, t, t, birth, gen)
}
