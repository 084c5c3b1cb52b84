package simulate

// This file holds the messages of the lean core: the pool, the way to other hosts, and the queues
// of a host.

func (l *lean) newMessage() int32 {
	if m := l.free; m != 0 {
		l.free = l.msgs[m].next
		return m
	}
	l.msgs = append(doubled(l.msgs, 1), leanMessage{})
	return int32(len(l.msgs) - 1)
}

// doubled makes room for n more elements, by twice the room if there is too little. (append alone
// takes a quarter more at a time, and touches five times the memory in the end.)
func doubled[T any](list []T, n int) []T {
	if len(list)+n <= cap(list) {
		return list
	}
	return append(make([]T, 0, max(2*cap(list), len(list)+n)), list...)
}

func (l *lean) freeMessage(m int32) {
	l.msgs[m].next = l.free
	l.free = m
}

// deliver takes message m, which is complete, from a host to another one, which may be one of another
// thread or process.
func (l *lean) deliver(from, to, m int32) {
	n := &l.msgs[m]
	if uint32(to) >= uint32(len(l.hosts)) {
		l.mail.acts = min(l.mail.acts, n.time)
		l.depart(to, m, n)
		return
	}
	switch t := l.deal.owner(to); {
	case to == from:
		l.push(&l.hosts[to], m)
	case t == l.thread:
		l.putInbox(to, m, n)
	case l.mail.direct:
		l.shards[t].take(to, n)
		l.freeMessage(m)
	default:
		n.child = to
		l.mail.add(t, n, n.time)
		l.freeMessage(m)
	}
}

// take takes a message that another thread has sent to a host of this one.
func (l *lean) take(to int32, n *leanMessage) {
	if n.time == never {
		return
	}
	m := l.newMessage()
	copied := &l.msgs[m]
	*copied = *n
	copied.child = 0
	l.enter(to, m, copied)
}

// depart takes message m to a host of another process.
func (l *lean) depart(to, m int32, n *leanMessage) {
	p := envelope{
		time: n.time, birth: n.birth, order: n.order, from: n.from, to: to + l.firstRank, index: n.index, tag: n.tag,
	}
	if n.order&3 == kindRelease {
		p.own = int64(n.load)
	} else {
		p.load = n.load
	}
	if n.time != never {
		l.ports.send(p.to, &p)
	}
	l.freeMessage(m)
}

// arrive takes a message from another process.
func (l *lean) arrive(p *envelope) {
	m := l.newMessage()
	n := &l.msgs[m]
	*n = leanMessage{time: p.time, birth: p.birth, load: p.load, order: p.order, from: p.from, index: p.index, tag: p.tag}
	if n.order&3 == kindRelease {
		n.load = uint64(p.own)
	}
	l.enter(p.to-l.firstRank, m, n)
}

// enter puts message m, which comes from elsewhere, into an inbox of a host of this thread.
func (l *lean) enter(to, m int32, n *leanMessage) {
	if n.time >= l.calendar.end() {
		l.putInbox(to, m, n)
		return
	}
	box := &l.inbox[l.calendar.side][to]
	n.next = *box
	*box = m
	l.calendar.wakeNow(to)
}

// putInbox puts message m, which acts after the present window, into an inbox of a host.
func (l *lean) putInbox(to, m int32, n *leanMessage) {
	c := l.calendar
	if n.time < c.nextEnd {
		box := &l.inbox[c.side^1][to]
		n.next = *box
		*box = m
		c.soon.add(to)
		return
	}
	n.next = l.later[to]
	l.later[to] = m
	c.wakeLater(to, n.time)
}

func (l *lean) collect(from, round int) {
	list := l.shards[from].mail.to(l.thread, round)
	for i := range list {
		l.take(list[i].child, &list[i])
	}
}

func (l *lean) takeArrived()                       { l.ports.take(l.home().arrive) }
func (l *lean) post() (*sent, *ports)              { return &l.mail.sent, &l.ports }
func (l *lean) beginRound(round int)               { l.mail.begin(round); l.ports.reset() }
func (l *lean) setDirect(on bool)                  { l.mail.direct = on }
func (l *lean) cal() *calendar                     { return l.calendar }
func (l *lean) failed() bool                       { return l.overflow || l.unfit || l.sawLarge }
func (l *lean) progress() (messages, visits int64) { return l.stats.messages, l.visits }

// takeInbox queues the messages of an inbox. The list is turned round first: senders are mostly
// carried out in ascending order, and then messages arrive in the order of their keys.
func (l *lean) takeInbox(h *leanHost, m int32) {
	if l.msgs[m].next != 0 {
		list := int32(0)
		for m != 0 {
			next := l.msgs[m].next
			l.msgs[m].next = list
			list = m
			m = next
		}
		m = list
	}
	for m != 0 {
		next := l.msgs[m].next
		l.push(h, m)
		m = next
	}
}

// push queues a message of a host: after the last one, before the first one, or in the heap.
func (l *lean) push(h *leanHost, m int32) {
	n := &l.msgs[m]
	n.next, n.child = 0, 0
	if h.tail == 0 {
		h.queue, h.tail = m, m
		return
	}
	if last := &l.msgs[h.tail]; !messageBefore(n, last) {
		last.next = m
		h.tail = m
		return
	}
	if messageBefore(n, &l.msgs[h.queue]) {
		n.next = h.queue
		h.queue = m
		return
	}
	h.heap = l.meld(h.heap, m, messageBefore)
}

// messageBefore orders messages by their full key.
func messageBefore(a, b *leanMessage) bool {
	if a.time != b.time {
		return a.time < b.time
	}
	return messageBorn(a, b)
}

// messageBorn orders messages by their key without the time.
func messageBorn(a, b *leanMessage) bool {
	if a.birth != b.birth {
		return a.birth < b.birth
	}
	if a.order != b.order {
		return a.order < b.order
	}
	if a.from != b.from {
		return a.from < b.from
	}
	return a.index < b.index
}

// The queues in which a message can be.
const (
	inNone = iota
	inQueue
	inHeap
	inWaiting
)

// nextMessage returns the next message of a host that has one, when it happens, and in which
// queue it is.
func (l *lean) nextMessage(h *leanHost) (m int32, at int64, list int) {
	free := max(h.nexto, h.nextgr)
	if h.heap|h.waiting == 0 && (l.inOrder || h.queue == h.tail) {
		m = h.queue
		n := &l.msgs[m]
		if n.order&3 == kindRelease {
			return m, n.time, inQueue
		}
		return m, max(n.time, free), inQueue
	}
	return l.nextOfMany(h, free)
}

// nextOfMany is nextMessage in the general case. Messages that would have come while the host is
// busy move to the heap of the waiting ones, which is ordered without the time.
func (l *lean) nextOfMany(h *leanHost, free int64) (m int32, at int64, list int) {
	for {
		m, list = h.queue, inQueue
		if m == 0 || h.heap != 0 && messageBefore(&l.msgs[h.heap], &l.msgs[m]) {
			m, list = h.heap, inHeap
		}
		if m == 0 {
			break
		}
		n := &l.msgs[m]
		at = n.time
		if at >= free || n.order&3 == kindRelease {
			break
		}
		l.removeMessage(h, list)
		n.next, n.child = 0, 0
		h.waiting = l.meld(h.waiting, m, messageBorn)
	}
	if w := h.waiting; w != 0 {
		if m == 0 || free < at || free == at && messageBorn(&l.msgs[w], &l.msgs[m]) {
			return w, free, inWaiting
		}
	}
	return m, at, list
}

// removeMessage takes the first message out of a queue.
func (l *lean) removeMessage(h *leanHost, list int) {
	switch list {
	case inQueue:
		h.queue = l.msgs[h.queue].next
		if h.queue == 0 {
			h.tail = 0
		}
	case inHeap:
		h.heap = l.pop(h.heap, messageBefore)
	case inWaiting:
		h.waiting = l.pop(h.waiting, messageBorn)
	}
}

// The heaps are pairing heaps over the links of the messages; 0 is the empty heap.

func (l *lean) meld(a, b int32, less func(x, y *leanMessage) bool) int32 {
	if a == 0 {
		return b
	}
	if b == 0 {
		return a
	}
	if less(&l.msgs[b], &l.msgs[a]) {
		a, b = b, a
	}
	l.msgs[b].next = l.msgs[a].child
	l.msgs[a].child = b
	return a
}

// pop removes the root of a heap and returns the new one.
func (l *lean) pop(root int32, less func(x, y *leanMessage) bool) int32 {
	pairs := int32(0)
	for c := l.msgs[root].child; c != 0; {
		d := l.msgs[c].next
		l.msgs[c].next = 0
		if d == 0 {
			l.msgs[c].next = pairs
			pairs = c
			break
		}
		rest := l.msgs[d].next
		l.msgs[d].next = 0
		m := l.meld(c, d, less)
		l.msgs[m].next = pairs
		pairs = m
		c = rest
	}
	result := int32(0)
	for pairs != 0 {
		rest := l.msgs[pairs].next
		l.msgs[pairs].next = 0
		result = l.meld(result, pairs, less)
		pairs = rest
	}
	l.msgs[root].child = 0
	return result
}
