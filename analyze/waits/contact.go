package waits

import (
	"cmp"
	"slices"
	"sort"

	"slackline/internal/spill"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// contact is a message whose two ends overlapped in time: until its instant both locations were in
// calls that depend on each other. These precede the calls from numbers from and to on.
type contact struct {
	instant  unit.Duration
	from, to int32
}

// contacts are those of the messages that a location received, by sender and instant.
type contacts struct {
	peers []int32
	first []int32 // by peer; one more at the end
	list  []contact
}

// with returns the contacts with a sender.
func (c *contacts) with(peer int32) []contact {
	i := sort.Search(len(c.peers), func(i int) bool { return c.peers[i] >= peer })
	if i == len(c.peers) || c.peers[i] != peer {
		return nil
	}
	return c.list[c.first[i]:c.first[i+1]]
}

// lastContact returns the latest instant of a contact whose calls precede the given ones; never if
// there is none.
func (a *analysis) lastContact(from, fromCall, to, toCall int32, limit unit.Duration) unit.Duration {
	list := a.contacts[to].with(from)
	// Calls that precede the given ones were left before these were entered.
	i := sort.Search(len(list), func(i int) bool { return list[i].instant > limit })
	for i--; i >= 0; i-- {
		if c := &list[i]; c.from <= fromCall && c.to <= toCall {
			return c.instant
		}
	}
	return never
}

// meet returns the contact that two operations of a message make, if they overlap.
func meet(from, to operation) (contact, bool) {
	instant := min(from.leave, to.leave)
	return contact{instant, from.end, to.end}, max(from.enter, to.enter) <= instant
}

// ends of a message: the send, its completion, the posting of the receive, the reception.
type messageEnds struct {
	send, done, post, recv operation
	doneTests, recvTests   bool // these only test
	isDone                 bool // the send was completed
}

// endsOf looks up when the calls of a message were.
func (a *analysis) endsOf(m *timeline.Message) messageEnds {
	e := messageEnds{send: a.operationOf(m.From, m.Send), recv: a.operationOf(m.To, m.Recv), recvTests: a.isTest(m.To, m.Recv),
		isDone: m.SendDone >= 0}
	e.done, e.post = e.send, e.recv
	if e.isDone && !m.SendBlocks() {
		e.done = a.operationOf(m.Completer(), m.SendDone)
	}
	if !m.RecvBlocks() {
		e.post = a.operationOf(m.Poster(), m.Post)
	}
	e.doneTests = e.isDone && a.isTest(m.Completer(), m.SendDone)
	return e
}

// found is a contact with a sender.
type found struct {
	contact
	peer int32
}

// foundBy are the contacts of a location, and those of other threads of its rank: of requests that they posted.
type foundBy struct {
	location int32
	own      []found
	others   map[int32][]found // by location
}

// add adds the contact of two operations, if they are one.
func (f *foundBy) add(sender int32, from operation, receiver int32, to operation) {
	c, ok := meet(from, to)
	switch {
	case !ok || sender == receiver:
	case receiver == f.location:
		f.own = append(f.own, found{c, sender})
	default:
		if f.others == nil {
			f.others = map[int32][]found{}
		}
		f.others[receiver] = append(f.others[receiver], found{c, sender})
	}
}

// contactsOf finds the contacts that a message makes: of its send with the reception, and of the completion of its
// send with the posting of its receive.
func (e *messageEnds) contactsOf(list *foundBy, m *timeline.Message) {
	if !e.recvTests {
		list.add(m.From, e.send, m.To, e.recv)
	}
	if e.isDone && !e.doneTests && !(m.SendBlocks() && m.RecvBlocks()) {
		list.add(m.Completer(), e.done, m.Poster(), e.post)
	}
}

// addContacts adds the contacts of other pairs of calls to those of messages.
func (a *analysis) addContacts(pairs []epochPair) {
	if a.hosts < len(a.tl.Locations) {
		a.pairs = pairs
	}
	lists := map[int32][]found{}
	for _, p := range pairs {
		if c, ok := meet(a.operationOf(p.other, p.otherCall), a.operationOf(p.location, p.call)); ok {
			lists[p.location] = append(lists[p.location], found{c, p.other})
		}
	}
	a.mergeContacts(lists)
}

// mergeContacts adds contacts to those that locations have.
func (a *analysis) mergeContacts(lists map[int32][]found) {
	if len(lists) == 0 {
		return
	}
	scratch := make([]int32, len(a.tl.Locations))
	for location, list := range lists {
		c := &a.contacts[location]
		for i, peer := range c.peers {
			for _, old := range c.list[c.first[i]:c.first[i+1]] {
				list = append(list, found{old, peer})
			}
		}
		a.contacts[location] = newContacts(a.tl.Space, list, scratch)
	}
}

// newContacts sorts contacts by sender and instant. The scratch has a zero for every location, and gets them back.
func newContacts(s *spill.Space, list []found, scratch []int32) contacts {
	var c contacts
	for i := range list {
		peer := list[i].peer
		if scratch[peer]++; scratch[peer] == 1 {
			c.peers = append(c.peers, peer)
		}
	}
	slices.Sort(c.peers)
	c.peers = slices.Clip(c.peers)
	c.first = make([]int32, len(c.peers)+1)
	c.list = spill.Make[contact](s, len(list), len(list))
	at := int32(0)
	for i, p := range c.peers {
		c.first[i] = at
		at, scratch[p] = at+scratch[p], at
	}
	c.first[len(c.peers)] = at
	for i := range list {
		peer := list[i].peer
		c.list[scratch[peer]] = list[i].contact
		scratch[peer]++
	}
	order := func(x, y contact) int {
		return cmp.Or(cmp.Compare(x.instant, y.instant), cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to))
	}
	for i, p := range c.peers {
		scratch[p] = 0
		if part := c.list[c.first[i]:c.first[i+1]]; !slices.IsSortedFunc(part, order) {
			slices.SortFunc(part, order)
		}
	}
	return c
}

// probeOf returns the call that looked for a message before it was received, and when that was; false if none did.
func (a *analysis) probeOf(p *timeline.Probes, m *timeline.Message) (call int32, look operation, ok bool) {
	if p == nil {
		return -1, look, false
	}
	at := m.Poster()
	if call = p.Before(a.calls(at), m.Post); call < 0 || a.isTest(at, call) {
		return -1, look, false
	}
	return call, a.operationOf(at, call), true
}

// readProbe finds the wait of the call that looked for a message, and its contact with the send.
func (a *analysis) readProbe(p *timeline.Probes, m *timeline.Message, number int32, send operation, waits *candidates, list *foundBy) {
	at := m.Poster()
	probe, look, ok := a.probeOf(p, m)
	if !ok || at == m.From {
		return
	}
	if !a.causeless {
		list.add(m.From, send, at, look)
	}
	if amount := min(send.enter, look.leave) - look.enter; amount > 0 && a.isHere(at) {
		waits.add(candidate{
			metric: lateSender.metric, amount: amount, location: at, call: probe, cause: m.From, causeCall: m.Send, reference: number,
			seq: m.RecvSeq,
		})
	}
}
