package replay

import (
	"cmp"
	"slices"

	"slackline/model/timeline"
)

// record describes what a call of a location does to a message or a collective.
type record struct {
	kind recordKind
	at   uint32 // number among what the location sends, receives or takes part in
}

// recordKind orders what one call does: what it begins comes before what it completes.
type recordKind uint8

const (
	postRecv recordKind = iota // begins a receive
	beginSend
	issueCall
	blockingSend // begins and completes one
	blockingRecv
	blockingCall
	completeRecv
	completeSend
	completeCall
	localMessage // begins or completes a message of the rank to itself
)

// recordTable holds the records of one location by call.
type recordTable struct {
	list  []record
	first []uint32 // those of call i: list[first[i]:first[i+1]]
}

// of returns the records of the calls from .. to-1.
func (r *recordTable) of(from, to int32) []record {
	return r.list[r.first[from]:r.first[to]]
}

// fill sorts the records of a location by call, in memory that is used again.
func (r *recordTable) fill(c *converter, location int32) {
	calls := c.t.Locations[location].Calls.Len()
	r.first = slices.Grow(r.first[:0], calls+2)[:calls+2]
	clear(r.first)
	c.eachRecord(location, func(call int32, _ recordKind, _ uint32) { r.first[call+2]++ })
	for i := range calls {
		r.first[i+2] += r.first[i+1]
	}
	n := int(r.first[calls+1])
	r.list = slices.Grow(r.list[:0], n)[:n]
	c.eachRecord(location, func(call int32, kind recordKind, at uint32) {
		r.list[r.first[call+1]] = record{kind, at}
		r.first[call+1]++
	})
	r.first = r.first[:calls+1]
}

// eachRecord calls yield for every record of a location: what it receives in the order of posting,
// what it sends, its collectives.
func (c *converter) eachRecord(location int32, yield func(call int32, kind recordKind, at uint32)) {
	received := c.received(location)
	for i := range received {
		m := &received[i]
		switch {
		case c.toItself(m):
			for _, call := range [...]int32{m.Send, m.SendDone, m.Post, m.Recv} {
				if call >= 0 {
					yield(call, localMessage, uint32(i))
				}
			}
		case !c.usable[c.recvFirst[location]+i]:
		case m.Post == m.Recv:
			yield(m.Recv, blockingRecv, uint32(i))
		default:
			yield(m.Post, postRecv, uint32(i))
			yield(m.Recv, completeRecv, uint32(i))
		}
	}
	for i, number := range c.sentBy(location) {
		m := &c.t.Messages[number]
		switch {
		case m.Send == m.SendDone:
			yield(m.Send, blockingSend, uint32(i))
		default:
			yield(m.Send, beginSend, uint32(i))
			if m.SendDone >= 0 {
				yield(m.SendDone, completeSend, uint32(i))
			}
		}
	}
	for i, p := range c.partsOf(location) {
		if p.issue == p.complete {
			yield(p.issue, blockingCall, uint32(i))
		} else {
			yield(p.issue, issueCall, uint32(i))
			yield(p.complete, completeCall, uint32(i))
		}
	}
}

// received are the messages that a location received, usable or not.
func (c *converter) received(location int32) []timeline.Message {
	return c.t.Messages[c.recvFirst[location]:c.recvFirst[location+1]]
}

// sentBy are the usable messages that a location sent.
func (c *converter) sentBy(location int32) []uint32 {
	return c.sends[c.sendFirst[location]:c.sendFirst[location+1]]
}

// partsOf are the parts of a location in collectives.
func (c *converter) partsOf(location int32) []part {
	return c.parts[c.partFirst[location]:c.partFirst[location+1]]
}

// sortRecords orders the records of one call: by kind, sends by the time at which they were recorded.
// Receives are in the order of their posting already.
func (c *converter) sortRecords(list []record, location int32) {
	sends := c.sentBy(location)
	slices.SortStableFunc(list, func(a, b record) int {
		if order := cmp.Compare(a.kind, b.kind); order != 0 || a.kind != beginSend && a.kind != blockingSend {
			return order
		}
		return cmp.Compare(c.t.Messages[sends[a.at]].Sent, c.t.Messages[sends[b.at]].Sent)
	})
}
