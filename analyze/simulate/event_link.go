package simulate

import (
	"encoding/binary"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
)

// The event engine on several processes. Each has a queue of its own hosts and carries out their
// events in order, up to the first one that another process could still affect. After each round the
// processes exchange messages, releases and the keys of their next events, and so know how far they
// may go. Let K be the smallest key that another process has or has been sent. Nothing that it does
// can act here
//
//   - by a message before K.time + o + L; and if o + L = 0, not before the key (K.time, K.time, gen)
//     with the generation of what the event of K creates;
//   - by a release, if this process has large sends under way to other processes, before the first
//     of their messages arrives, nor before the key of K itself.
//
// The process with the smallest key of all can always go on. With a window and without large messages
// a round is as long as a window. Large messages under way make rounds short: then this engine is for
// what does not fit into one machine, or needs no speed.

// instant is the part of a key that orders events of different hosts: generation and kind are one
// number.
type instant struct {
	time, birth int64
	order       uint32
}

var noInstant = instant{never, never, ^uint32(0)}

func (a instant) before(b instant) bool {
	if a.time != b.time {
		return a.time < b.time
	}
	if a.birth != b.birth {
		return a.birth < b.birth
	}
	return a.order < b.order
}

func instantOf(e *nextEvent) instant {
	return instant{e.time, e.birth, leanOrder(uint32(e.who>>33), uint32(e.who>>31)&3)}
}

// creates returns the smallest key that a message can have that an event at or after a creates.
func (a instant) creates(window int64) instant {
	if a.time == never || a.time+window < 0 {
		return noInstant
	}
	order := leanOrder(0, kindMessage)
	if a.birth == a.time {
		order = leanOrder(a.order>>2+1, kindMessage)
	}
	if window > 0 {
		return instant{time: a.time + window}
	}
	return instant{a.time, a.time, order &^ 3}
}

// releases returns the smallest key that a release can have that an event at or after a creates.
func (a instant) releases() instant {
	if a.time == never {
		return noInstant
	}
	if a.order&3 == kindRelease {
		return instant{a.time, a.birth, a.order + 1} // a release matches nothing; what it makes ready has a larger generation or birth
	}
	return instant{a.time, a.birth, a.order&^3 | kindRelease}
}

// horizon is how far a process may go.
type horizon struct {
	window int64
	others instant // smallest key of other processes, as far as known
	next   instant // of what they can create
	frees  instant // of releases
}

// see takes in that another process has an event.
func (h *horizon) see(a instant) {
	if a.before(h.others) {
		h.others = a
		h.next, h.frees = a.creates(h.window), a.releases()
	}
}

// eventLink is the state of the event engine of one process among several.
type eventLink struct {
	*general
	queue   *hostQueue
	link    *link
	horizon horizon
	// The smallest key of what was sent in this round, to which process it goes, and the smallest key
	// of what goes to others than that one.
	sent   [2]instant
	sentTo int
	// Large sends under way to other processes.
	exposed  map[sendOf]int64 // when their messages arrive
	arrivals minHeap[exposedSend]
}

type exposedSend struct {
	sendOf
	arrives int64
}

// runEventsTogether is runEvents on several processes.
func runEventsTogether(g *general, l *link, tick func(now, messages int64)) error {
	e := &eventLink{general: g, queue: newHostQueue(g), link: l, exposed: make(map[sendOf]int64)}
	e.sent, e.sentTo = [2]instant{noInstant, noInstant}, -1
	e.arrivals.less = func(a, b *exposedSend) bool { return a.arrives < b.arrives }
	var touched []int32
	g.deliver = func(host, i int32) {
		g.insert(host, i)
		touched = append(touched, host)
	}
	g.leaving = e.leave
	g.freed = func(rank, index int32) { delete(e.exposed, sendOf{rank, index}) }
	for rank := range int32(g.ranks) {
		g.start(rank)
	}
	for h := range int32(g.hosts) {
		e.queue.update(h)
	}
	for round := 0; ; round++ {
		more, err := e.exchange()
		if err != nil || !more {
			return err
		}
		g.ports.reset()
		g.ports.take(func(p *envelope) {
			i := g.arrive(p)
			h := g.host(g.nodes[i].rank())
			g.insert(h, i)
			e.queue.update(h)
		})
		for {
			h, next, ok := e.queue.top()
			if !ok || g.overflow || !e.safe(instantOf(&next)) {
				break
			}
			g.take(h, next.node, next.class)
			g.carryOut(h, next.node, next.time)
			e.queue.update(h)
			for _, t := range touched {
				e.queue.update(t)
			}
			touched = touched[:0]
		}
		if round&1023 == 0 {
			if _, next, ok := e.queue.top(); ok {
				tick(next.time, g.stats.messages)
			}
		}
	}
}

// leave notes what goes to another process.
func (e *eventLink) leave(host int32, n *node) {
	at := instant{n.time, n.birth, leanOrder(n.gen(), uint32(n.kind()))}
	to := cluster.Owner(e.layout.Hosts(), int(host+e.firstHost), e.link.group.Size())
	switch {
	case e.sentTo == to:
		if at.before(e.sent[0]) {
			e.sent[0] = at
		}
	case at.before(e.sent[0]):
		e.sent[0], e.sent[1], e.sentTo = at, e.sent[0], to
	case at.before(e.sent[1]):
		e.sent[1] = at
	}
	e.horizon.see(at)
	if n.kind() == kindMessage && n.waitedFor(e.costs.of(n.class, n.size)) {
		s := sendOf{e.local(n.a()), n.b()}
		e.exposed[s] = n.time
		e.arrivals.push(exposedSend{s, n.time})
	}
}

// safe reports whether nothing that other processes do can come before an event.
func (e *eventLink) safe(at instant) bool {
	if !at.before(e.horizon.next) {
		return false
	}
	if len(e.exposed) == 0 {
		return true
	}
	for {
		top := e.arrivals.top()
		if arrives, is := e.exposed[top.sendOf]; is && arrives == top.arrives {
			return at.time < top.arrives || at.before(e.horizon.frees)
		}
		e.arrivals.pop()
	}
}

// exchange ends a round. It finds out how far the process may go, and reports whether there is
// anything left to do on any process.
func (e *eventLink) exchange() (more bool, err error) {
	l := e.link
	first := noInstant
	if _, next, ok := e.queue.top(); ok {
		first = instantOf(&next)
	}
	l.rounds++
	head := binary.AppendUvarint(nil, uint64(e.sentTo+1))
	for _, a := range [...]instant{first, e.sent[0], e.sent[1]} {
		head = binary.AppendUvarint(head, uint64(a.time))
		head = binary.AppendUvarint(head, uint64(a.birth))
		head = binary.AppendUvarint(head, uint64(a.order))
	}
	failed := byte(0)
	if e.overflow {
		failed = 1
	}
	head = append(head, failed)
	for q := range l.parts {
		l.parts[q] = append(l.parts[q][:0], head...)
		if q != l.group.Rank() {
			l.parts[q] = l.appendStreams(l.parts[q], q, []*ports{&e.ports})
		}
	}
	in, err := l.group.Exchange(l.ctx, l.parts)
	if err != nil {
		return false, err
	}
	return e.hear(in)
}

// hear takes what the processes have reported at the end of a round.
func (e *eventLink) hear(in [][]byte) (more bool, err error) {
	me := e.link.group.Rank()
	e.sent, e.sentTo = [2]instant{noInstant, noInstant}, -1
	e.horizon = horizon{window: e.window, others: noInstant, next: noInstant, frees: noInstant}
	failed := false
	for q, data := range in {
		c := chunk.Column{B: data}
		to := int(c.Uint()) - 1
		var at [3]instant
		for i := range at {
			at[i] = instant{int64(c.Uint()), int64(c.Uint()), uint32(c.Uint())}
			more = more || at[i].time != never
		}
		broken := c.Byte() != 0
		failed = failed || broken
		if q != me {
			e.horizon.see(at[0])
		}
		if to != me {
			e.horizon.see(at[1])
		} else {
			e.horizon.see(at[2])
		}
		if c.Left() > 0 {
			for range c.Uint() {
				e.ports.in = append(e.ports.in, c.Bytes(c.Uint()))
			}
		}
		if c.Bad {
			return false, errEnvelopes
		}
	}
	return more && !failed, nil
}
