package replay

import (
	"slices"

	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// endOpen ends a block that has become long although requests are open, if that is possible before a
// call that was begun at t in the run. A program that always has a request open would be one block,
// which for each copy of the rank must be in memory as a whole.
//
// All sends that are open must have been received in the run by then: they are complete. Receives that
// are open are posted at the beginning of the next block instead, which only senders of large messages
// notice: they go on when the receive is posted. So the sender must have gone on later in the run. With
// a collective open the block goes on.
//
// That changes nothing for small messages. If a message that was small in the run is large on another
// machine, so that others wait for its receive, a program may lock up by it.
func (b *blockWriter) endOpen(t unit.Duration) {
	b.begun = slices.DeleteFunc(b.begun, func(r record) bool { return *b.opOf(r) == closed })
	// Each try looks at everything that is open.
	b.tryAt = len(b.out.ops) - b.start + 1 + len(b.begun)/16
	if b.innerOpen > 0 {
		return
	}
	for _, r := range b.begun {
		switch r.kind {
		case beginSend:
			if b.c.t.Messages[b.sends[r.at]].Received >= t {
				return
			}
		case postRecv:
			if b.c.sendEnd(&b.received[r.at]) <= t {
				return
			}
		case issueCall:
			return
		}
	}
	var later []record
	var posts []schedule.Op
	for _, r := range b.begun {
		switch r.kind {
		case beginSend:
			b.sendOp[r.at] = closed
			b.open--
		case postRecv:
			op := &b.out.ops[b.start+int(b.recvOp[r.at])]
			later, posts = append(later, r), append(posts, *op)
			*op = schedule.Op{Kind: schedule.Calc, Origin: op.Origin}
		}
	}
	b.end()
	b.nextBlock()
	for i, r := range later {
		b.recvOp[r.at] = int32(b.push(posts[i]))
		b.begun = append(b.begun, r)
	}
	b.tryAt = len(later) + b.c.options.blockOps
}

// opOf is the operation of a request that was begun.
func (b *blockWriter) opOf(r record) *int32 {
	switch r.kind {
	case postRecv:
		return &b.recvOp[r.at]
	case beginSend:
		return &b.sendOp[r.at]
	}
	return &b.partOp[r.at]
}

// sendEnd is when the sender of a message had completed it in the run.
func (c *converter) sendEnd(m *timeline.Message) unit.Duration {
	call := m.SendDone
	if call < 0 {
		call = m.Send
	}
	return c.t.Locations[m.From].Calls.Leave[call]
}
