package replay

import (
	"math"
	"slices"

	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// noCall is the call of a collective that becomes nothing.
const noCall int32 = -1

// part is the part of a location in a collective.
type part struct {
	call            int32 // in the table of calls
	issue, complete int32
}

// operations are the collectives with a counterpart in a schedule. Whatever makes a handle for all
// members (a communicator, a window, a file) keeps them together as a barrier does; to give it back
// does not.
var operations = map[timeline.Op]schedule.Operation{
	timeline.OpBarrier:              schedule.Barrier,
	timeline.OpBcast:                schedule.Bcast,
	timeline.OpGather:               schedule.Gather,
	timeline.OpGatherv:              schedule.Gather,
	timeline.OpScatter:              schedule.Scatter,
	timeline.OpScatterv:             schedule.Scatter,
	timeline.OpAllgather:            schedule.Allgather,
	timeline.OpAllgatherv:           schedule.Allgather,
	timeline.OpAlltoall:             schedule.Alltoall,
	timeline.OpAlltoallv:            schedule.Alltoall,
	timeline.OpAlltoallw:            schedule.Alltoall,
	timeline.OpAllreduce:            schedule.Allreduce,
	timeline.OpReduce:               schedule.Reduce,
	timeline.OpReduceScatter:        schedule.ReduceScatter,
	timeline.OpReduceScatterBlock:   schedule.ReduceScatter,
	timeline.OpScan:                 schedule.Scan,
	timeline.OpExscan:               schedule.Exscan,
	timeline.OpCreateHandle:         schedule.Barrier,
	timeline.OpAllocate:             schedule.Barrier,
	timeline.OpCreateHandleAllocate: schedule.Barrier,
}

// findCollectives makes a call of every collective, and sorts the parts in them by location.
func (c *converter) findCollectives() {
	c.groups = newGroupTable(c.t.WithStreams())
	c.calls = callTable{known: map[callKey]int32{}, sizes: map[uint64][][]int64{}}
	c.partFirst = make([]int, len(c.t.Locations)+1)
	if c.options.WithoutCollectives {
		return
	}
	calls := make([]int32, len(c.t.Collectives))
	for k := range calls {
		if c.compose(k) {
			calls[k] = noCall
			c.report.Collectives++
			continue
		}
		if calls[k] = c.callOf(k); calls[k] == noCall {
			continue
		}
		c.report.Collectives++
		if int(c.groups.ofComm[c.t.Collectives[k].Comm]) < c.groups.global {
			c.report.OfAllRanks++
		}
		for _, m := range c.membersOf(k) {
			c.partFirst[m.Location+1]++
		}
	}
	for l := range c.t.Locations {
		c.partFirst[l+1] += c.partFirst[l]
	}
	c.parts = make([]part, c.partFirst[len(c.t.Locations)])
	next := slices.Clone(c.partFirst)
	if c.devices != nil {
		c.devices.begun = make([]unit.Duration, len(c.parts))
	}
	for k, call := range calls {
		if call == noCall {
			continue
		}
		if c.devices != nil {
			c.findBegun(c.membersOf(k), next)
		}
		for _, m := range c.membersOf(k) {
			c.parts[next[m.Location]] = part{call, m.Issue, m.Complete}
			next[m.Location]++
		}
	}
}

// findBegun finds out when the last member of a collective began it, for members with these parts.
func (c *converter) findBegun(members []timeline.Member, parts []int) {
	last := unit.Duration(math.MinInt64)
	for i := range members {
		last = max(last, c.t.Locations[members[i].Issuer()].Calls.Enter[members[i].Issue])
	}
	for _, m := range members {
		c.devices.begun[parts[m.Location]] = min(last, c.t.Locations[m.Location].Calls.Leave[m.Complete])
	}
}

// compose turns a collective into inner operations, if it is one that consists of such.
func (c *converter) compose(k int) bool {
	switch col := &c.t.Collectives[k]; col.Scope {
	case timeline.ByComm:
		return c.exchange(k) || c.between(k) || c.create(k)
	case timeline.ByFile:
		return c.file(k)
	case timeline.ByConnection:
		return c.connect(k)
	}
	return false // windows: see findWindows
}

func (c *converter) membersOf(k int) []timeline.Member {
	return c.t.MembersOf(&c.t.Collectives[k])
}

// callOf makes a call of a collective, or finds an equal one.
func (c *converter) callOf(k int) int32 {
	col := &c.t.Collectives[k]
	op, known := operations[col.Op]
	group := c.groups.ofComm[col.Comm]
	if !known || group < 0 || col.Scope != timeline.ByComm || len(c.t.Comms[col.Comm].Remote) > 0 {
		return noCall
	}
	members := c.membersOf(k)
	nonBlocking := false
	for i := range members {
		m := &members[i]
		if !c.masters[m.Location] {
			c.report.OtherThreads++
			return noCall
		}
		nonBlocking = nonBlocking || m.Issue != m.Complete
	}
	call := schedule.Call{Op: op, Group: group, Root: max(col.Root, 0)}
	if int(call.Root) >= len(members) {
		return noCall
	}
	c.setSizes(&call, col.Op, members)
	switch {
	case nonBlocking: // several of them may be under way
		call.Tag = uint32(len(c.t.Comms)+k) + 1
	case int(group) >= c.groups.global:
		call.Tag = uint32(group)
	}
	return c.calls.add(&call)
}

// setSizes gives a call its size, or its sizes by rank if they differ. What the records have of a
// collective is what goes into and comes out of each member's buffers: a root that sends something
// to n members has sent it n times.
func (c *converter) setSizes(call *schedule.Call, op timeline.Op, members []timeline.Member) {
	n := int64(len(members))
	sent := func(m *timeline.Member) int64 { return m.Sent }
	received := func(m *timeline.Member) int64 { return m.Received }
	switch op {
	case timeline.OpBcast:
		call.Size = largest(members, received)
		if call.Size == 0 {
			call.Size = members[call.Root].Sent / n
		}
	case timeline.OpReduce, timeline.OpAllreduce, timeline.OpScan, timeline.OpExscan:
		call.Size = largest(members, sent)
		if call.Size == 0 {
			call.Size = largest(members, received)
		}
	case timeline.OpGather, timeline.OpGatherv:
		c.byRank(call, members, sent, call.Root)
	case timeline.OpScatter, timeline.OpScatterv:
		c.byRank(call, members, received, call.Root)
	case timeline.OpAllgather, timeline.OpAllgatherv:
		if counts := c.t.CountsOf(&members[0]); largest(members, sent) > 0 {
			c.byRank(call, members, sent, -1)
		} else if int64(len(counts)) >= n { // in place
			call.Sizes = counts[:n]
		} else {
			call.Size = (largest(members, received) + n - 1) / n
		}
	case timeline.OpReduceScatter, timeline.OpReduceScatterBlock:
		c.byRank(call, members, received, -1)
	case timeline.OpAlltoall:
		call.Size = (max(largest(members, sent), largest(members, received)) + n - 1) / n
	case timeline.OpAlltoallv, timeline.OpAlltoallw:
		c.byPair(call, members)
	}
}

func largest(members []timeline.Member, size func(*timeline.Member) int64) int64 {
	most := int64(0)
	for i := range members {
		most = max(most, size(&members[i]))
	}
	return most
}

// byRank gives a call sizes by rank, unless they are all equal. What the root has for itself does not
// travel: it counts as equal.
func (c *converter) byRank(call *schedule.Call, members []timeline.Member, size func(*timeline.Member) int64, root int32) {
	first := 0
	if root == 0 && len(members) > 1 {
		first = 1
	}
	call.Size = max(size(&members[first]), 0)
	for i := range members {
		if size(&members[i]) != call.Size && int32(i) != root {
			sizes := make([]int64, len(members))
			for j := range members {
				sizes[j] = max(size(&members[j]), 0)
			}
			call.Size, call.Sizes = 0, sizes
			return
		}
	}
}

// byPair gives an alltoallv its sizes by sender and receiver, unless they are all equal. A sender
// whose counts are not known sends as much to each.
func (c *converter) byPair(call *schedule.Call, members []timeline.Member) {
	n := len(members)
	sizes := make([]int64, n*n)
	equal := true
	for i := range members {
		row := sizes[i*n : (i+1)*n]
		if counts := c.t.CountsOf(&members[i]); len(counts) >= n {
			for j := range row {
				row[j] = max(counts[j], 0)
			}
		} else {
			for j := range row {
				row[j] = (max(members[i].Sent, 0) + int64(n) - 1) / int64(n)
			}
		}
		for _, size := range row {
			equal = equal && size == sizes[0]
		}
	}
	if equal {
		call.Size = sizes[0]
		return
	}
	call.Sizes = sizes
}
