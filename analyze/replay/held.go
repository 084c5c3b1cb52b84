package replay

import (
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Whatever makes a communicator, a window or a file keeps its members together as a barrier does.

// groupOfRanks returns a group with these ranks; -1 if there are not at least two, each once. It stays inside its copy of the run.
func (c *converter) groupOfRanks(ranks []int32) int32 {
	seen := map[int32]bool{}
	for _, r := range ranks {
		if r < 0 || int(r) >= c.t.Ranks || seen[r] {
			return -1
		}
		seen[r] = true
	}
	if len(ranks) < 2 {
		return -1
	}
	return c.groups.find(ranks)
}

// groupOf returns the group of all members of a communicator, of both groups of an intercommunicator; -1: none.
func (c *converter) groupOf(comm int32) int32 {
	x := &c.t.Comms[comm]
	if len(x.Remote) == 0 {
		return c.groups.ofComm[comm]
	}
	ranks := make([]int32, x.Size())
	for i := range ranks {
		ranks[i] = x.Rank(i)
	}
	return c.groupOfRanks(ranks)
}

// tagOf is the tag of the inner collectives of collective k: several of them may be under way.
func (c *converter) tagOf(k int) uint32 { return uint32(len(c.t.Comms)+k) + 1 }

// barrier lets the members of collective k meet, and tells it; it returns the operations of the members, nil if that is not possible.
func (c *converter) barrier(k int) []int32 {
	col, members := &c.t.Collectives[k], c.membersOf(k)
	group := c.groupOf(col.Comm)
	if group < 0 || !c.canCompose(members) {
		return nil
	}
	if int(group) < c.groups.global {
		c.report.OfAllRanks++
	}
	ops := make([]int32, len(members))
	for i := range members {
		call := schedule.Call{Op: schedule.Barrier, Group: group, Tag: c.tagOf(k)}
		ops[i] = c.addCollective(members[i].Location, spanOf(&members[i]), &call)
		c.tellMember(col, members, i)
	}
	return ops
}

// create turns the creation of a communicator into a barrier.
func (c *converter) create(k int) bool {
	op, known := operations[c.t.Collectives[k].Op]
	return known && op == schedule.Barrier && c.t.Collectives[k].Op != timeline.OpBarrier && c.barrier(k) != nil
}

// held returns when the last member of a collective came, and whether all were inside at one instant.
func (c *converter) held(members []timeline.Member) (last unit.Duration, held bool) {
	first := unit.Duration(0)
	for i := range members {
		calls := &c.t.Locations[members[i].Location].Calls
		enter, leave := calls.Enter[members[i].Issue], calls.Leave[members[i].Complete]
		if i == 0 || enter > last {
			last = enter
		}
		if i == 0 || leave < first {
			first = leave
		}
	}
	return last, first >= last
}

// file turns a collective operation on a file into a barrier and the time that the file system took after the last member had come, if
// the members were in it together. Else each takes its own time.
func (c *converter) file(k int) bool {
	members := c.membersOf(k)
	last, held := c.held(members)
	if !held {
		return false
	}
	ops := c.barrier(k)
	for i := range ops {
		m := &members[i]
		calls := &c.t.Locations[m.Location].Calls
		if d := calls.Leave[m.Complete] - max(calls.Enter[m.Complete], last); d > 0 {
			op := schedule.Op{Kind: schedule.Calc, Size: int64(d)}
			c.addInner(m.Location, inner{op: op, begin: m.Complete, end: m.Complete, after: ops[i : i+1]})
		}
	}
	return ops != nil
}

// connect lets the two groups of an intercommunicator meet when they make it. Processes that were spawned begin with a message from the
// first of the others, which waits for their answer.
func (c *converter) connect(k int) bool {
	col, members := &c.t.Collectives[k], c.membersOf(k)
	var children []int
	parent := -1
	for i := range members {
		m := &members[i]
		calls := &c.t.Locations[m.Location].Calls
		switch {
		case !c.masters[m.Location] || !c.inMPI(calls, m.Issue):
			return false
		case c.kinds[calls.Path[m.Issue]] == initCall:
			children = append(children, i)
		case parent < 0:
			parent = i
		}
	}
	_, held := c.held(members)
	if len(children) == 0 {
		return held && c.barrier(k) != nil
	}
	if parent < 0 || !held {
		return false
	}
	for _, i := range children {
		p, child := &members[parent], &members[i]
		_, begun := c.addMessage(p.Location, spanOf(p), child.Location, spanOf(child), 0)
		answer, _ := c.addMessage(child.Location, spanOf(child), p.Location, spanOf(p), 0)
		c.require(child.Location, answer, begun)
	}
	for i := range members {
		c.tellMember(col, members, i)
	}
	return true
}
