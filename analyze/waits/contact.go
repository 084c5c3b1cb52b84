package waits

import (
	"cmp"
	"slices"
	"sort"

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

// contactsOf finds the contacts of the messages that a message makes: of its send with the completion of
// its receive, and of the completion of its send with the posting of its receive.
func (a *analysis) contactsOf(m *timeline.Message, visit func(contact)) {
	if !a.isTest(m.To, m.Recv) {
		if c, ok := meet(a.operationOf(m.From, m.Send), a.operationOf(m.To, m.Recv)); ok {
			visit(c)
		}
	}
	if m.SendDone < 0 || m.SendDone == m.Send && m.Post == m.Recv || a.isTest(m.From, m.SendDone) {
		return
	}
	if c, ok := meet(a.operationOf(m.From, m.SendDone), a.operationOf(m.To, m.Post)); ok {
		visit(c)
	}
}

// collectContacts lists the contacts of a location with those whose messages it received. The scratch
// has a zero for every location, and gets them back.
func (a *analysis) collectContacts(location int32, messages []timeline.Message, scratch []int32) {
	c := &a.contacts[location]
	total := int32(0)
	for i := range messages {
		m := &messages[i]
		if m.From == location {
			continue
		}
		a.contactsOf(m, func(contact) {
			if scratch[m.From]++; scratch[m.From] == 1 {
				c.peers = append(c.peers, m.From)
			}
			total++
		})
	}
	slices.Sort(c.peers)
	c.peers = slices.Clip(c.peers)
	c.first = make([]int32, len(c.peers)+1)
	c.list = make([]contact, total)
	at := int32(0)
	for i, p := range c.peers {
		c.first[i] = at
		at, scratch[p] = at+scratch[p], at
	}
	c.first[len(c.peers)] = at
	for i := range messages {
		m := &messages[i]
		if m.From == location {
			continue
		}
		a.contactsOf(m, func(found contact) {
			c.list[scratch[m.From]] = found
			scratch[m.From]++
		})
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
}
