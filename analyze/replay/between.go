package replay

import (
	"slackline/model/schedule"
	"slackline/model/timeline"
)

// Collectives between two groups: data are gathered at the first of a group, go from the first of one group to that of the other, and
// are spread there.

// between turns a collective of an intercommunicator into collectives of its groups and messages between them.
func (c *converter) between(k int) bool {
	col, members := &c.t.Collectives[k], c.membersOf(k)
	comm := &c.t.Comms[col.Comm]
	if len(comm.Remote) == 0 {
		return false
	}
	ok := c.canCompose(members)
	for _, ranks := range [][]int32{comm.Members, comm.Remote} {
		ok = ok && (len(ranks) == 1 || c.groupOfRanks(ranks) >= 0)
	}
	b := &twoGroups{converter: c, members: members, tag: c.tagOf(k), local: len(comm.Members), ranks: [2][]int32{comm.Members, comm.Remote}}
	if !ok || !b.compose(col) {
		if _, known := operations[col.Op]; known && operations[col.Op] != schedule.Barrier {
			c.report.Between++
		}
		return false
	}
	for i := range members {
		c.tellMember(col, members, i)
	}
	return true
}

// twoGroups is a collective between two groups while it becomes operations.
type twoGroups struct {
	*converter
	members []timeline.Member
	tag     uint32
	local   int
	ranks   [2][]int32
}

// compose adds the operations; false if the operation is not known.
func (b *twoGroups) compose(col *timeline.Collective) bool {
	root, side := int(col.Root), 0 // of the root
	if root >= b.local {
		side = 1
	}
	switch col.Op {
	case timeline.OpBarrier:
		b.all(schedule.Reduce, func(int) int64 { return 0 })
	case timeline.OpAllreduce:
		b.all(schedule.Reduce, b.largest)
	case timeline.OpAllgather, timeline.OpAllgatherv:
		b.all(schedule.Gather, b.total)
	case timeline.OpBcast, timeline.OpScatter, timeline.OpScatterv:
		if root < 0 {
			return false
		}
		op, size := schedule.Bcast, largest(b.of(1-side), func(m *timeline.Member) int64 { return m.Received })
		whole := size
		if col.Op != timeline.OpBcast {
			op, whole = schedule.Scatter, sum(b.of(1-side), func(m *timeline.Member) int64 { return m.Received })
		}
		first := b.first(1 - side)
		_, got := b.addMessage(b.members[root].Location, spanOf(&b.members[root]), b.members[first].Location, spanOf(&b.members[first]), whole)
		b.spread(1-side, op, size, got)
	case timeline.OpReduce, timeline.OpGather, timeline.OpGatherv:
		if root < 0 {
			return false
		}
		op, size := schedule.Reduce, b.largest(1-side)
		whole := size
		if col.Op != timeline.OpReduce {
			op, whole = schedule.Gather, b.total(1-side)
		}
		gathered := b.collect(1-side, op, size)
		first := b.first(1 - side)
		sent, _ := b.addMessage(b.members[first].Location, spanOf(&b.members[first]), b.members[root].Location, spanOf(&b.members[root]), whole)
		b.requireAll(b.members[first].Location, sent, gathered)
	default:
		return false
	}
	return true
}

// all lets both groups collect what they have, exchange it, and spread what they got.
func (b *twoGroups) all(op schedule.Operation, size func(side int) int64) {
	var sent, received [2]int32
	var collected [2]int32
	for side := range 2 {
		each := size(side)
		if op == schedule.Gather {
			each = b.largest(side)
		}
		collected[side] = b.collect(side, op, each)
	}
	for side := range 2 {
		from, to := &b.members[b.first(side)], &b.members[b.first(1-side)]
		sent[side], received[1-side] = b.addMessage(from.Location, spanOf(from), to.Location, spanOf(to), size(side))
		b.requireAll(from.Location, sent[side], collected[side])
	}
	for side := range 2 {
		b.spread(side, schedule.Bcast, size(1-side), received[side])
	}
}

// first is the first member of a group.
func (b *twoGroups) first(side int) int { return side * b.local }

func (b *twoGroups) of(side int) []timeline.Member {
	if side == 0 {
		return b.members[:b.local]
	}
	return b.members[b.local:]
}

func (b *twoGroups) largest(side int) int64 {
	return largest(b.of(side), func(m *timeline.Member) int64 { return m.Sent })
}

func (b *twoGroups) total(side int) int64 {
	return sum(b.of(side), func(m *timeline.Member) int64 { return m.Sent })
}

func sum(members []timeline.Member, size func(*timeline.Member) int64) (all int64) {
	for i := range members {
		all += max(size(&members[i]), 0)
	}
	return all
}

// collect brings data to the first of a group; it returns the operation of that one, noCall if there is only one.
func (b *twoGroups) collect(side int, op schedule.Operation, size int64) int32 {
	if len(b.ranks[side]) < 2 {
		return noCall
	}
	at := noCall
	for i := range b.of(side) {
		m := &b.of(side)[i]
		call := schedule.Call{Op: op, Group: b.groupOfRanks(b.ranks[side]), Size: size, Tag: b.tag}
		if number := b.addCollective(m.Location, spanOf(m), &call); i == 0 {
			at = number
		}
	}
	return at
}

// spread brings data from the first of a group, which needs a message for it, to the others. What they collected before comes first.
func (b *twoGroups) spread(side int, op schedule.Operation, size int64, got int32) {
	if len(b.ranks[side]) < 2 {
		return
	}
	for i := range b.of(side) {
		m := &b.of(side)[i]
		call := schedule.Call{Op: op, Group: b.groupOfRanks(b.ranks[side]), Size: size, Tag: b.tag + uint32(len(b.t.Collectives))}
		number := b.addCollective(m.Location, spanOf(m), &call)
		if i == 0 {
			b.require(m.Location, number, got)
		}
	}
}

func (b *twoGroups) requireAll(location, number, other int32) {
	if other != noCall {
		b.require(location, number, other)
	}
}
