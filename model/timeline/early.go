package timeline

import (
	"slices"
	"sync"

	"slackline/internal/parallel"
	"slackline/model/unit"
)

// Order says which members of a collective cannot end before others began.
type Order uint8

// The orders.
const (
	Unordered Order = iota // no member waits for another one, or that is not known
	AllToAll               // no member ends before all began
	OneToAll               // no member ends before the root began
	AllToOne               // the root does not end before all began
	Prefix                 // no member ends before those with smaller numbers began
)

// OrderOf returns who waits for whom in a collective. If a member sends or receives nothing, MPI need not make another one wait. If
// recording was switched on during the call of a member, its start is not known.
func (t *Timeline) OrderOf(c *Collective) Order {
	members := t.MembersOf(c)
	continues := func(m Member) bool { return t.Locations[m.Issuer()].continues(m.Issue) }
	if c.Scope != ByComm || len(t.Comms[c.Comm].Remote) > 0 || slices.ContainsFunc(members, continues) {
		return Unordered
	}
	rooted := c.Root >= 0 && int(c.Root) < len(members)
	sends := func(i int) bool { return members[i].Sent > 0 }
	receives := func(i int) bool { return members[i].Received > 0 }
	all := func(does func(i int) bool, but int32) bool {
		for i := range members {
			if i != int(but) && !does(i) {
				return false
			}
		}
		return true
	}
	switch c.Op {
	case OpBarrier:
		return AllToAll
	case OpAllgather, OpAllgatherv, OpAlltoall, OpAllreduce, OpReduceScatter, OpReduceScatterBlock:
		if all(sends, noPeer) && all(receives, noPeer) {
			return AllToAll
		}
	case OpBcast, OpScatter, OpScatterv:
		if rooted && all(receives, c.Root) {
			return OneToAll
		}
	case OpGather, OpGatherv, OpReduce:
		if rooted && all(sends, c.Root) {
			return AllToOne
		}
	case OpScan, OpExscan:
		if all(sends, noPeer) {
			return Prefix
		}
	}
	return Unordered
}

// earliness is by how much a collective ended before it could; 0 or less: it did not.
func (t *Timeline) earliness(c *Collective) (early unit.Duration) {
	order, members := t.OrderOf(c), t.MembersOf(c)
	if order == Unordered {
		return 0
	}
	enter := func(m *Member) unit.Duration { return t.Locations[m.Issuer()].Calls.Enter[m.Issue] }
	leave := func(m *Member) unit.Duration { return t.Locations[m.Location].Calls.Leave[m.Complete] }
	first, last := leave(&members[0]), enter(&members[0])
	for i := range members[1:] {
		m := &members[i+1]
		if order == Prefix {
			early = max(early, last-leave(m))
		}
		first, last = min(first, leave(m)), max(last, enter(m))
	}
	switch order {
	case AllToAll:
		return last - first
	case OneToAll:
		return enter(&members[c.Root]) - first
	case AllToOne:
		return last - leave(&members[c.Root])
	}
	return early
}

// CountEarlyCollectives adds the collectives that this process answers for to those that ended before they could.
func (t *Timeline) CountEarlyCollectives(threads int) {
	var mu sync.Mutex
	parallel.Chunks(len(t.Collectives), instancesPerTask, threads, func(_, from, to int) {
		var v violations
		for i := range t.Collectives[from:to] {
			if c := &t.Collectives[from+i]; t.Part == nil || t.CommOwner(int(c.Comm)) == t.Part.Group.Rank() {
				v.note(t.earliness(c))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		t.Problems.EarlyCollectives += v.count
		t.Problems.WorstViolation = max(t.Problems.WorstViolation, v.worst)
	})
}

// violations are messages that were received before they were sent, or collectives that ended before they could.
type violations struct {
	count int64
	worst unit.Duration
}

// note counts one that was so early, if it was.
func (v *violations) note(early unit.Duration) {
	if early > 0 {
		v.count++
		v.worst = max(v.worst, early)
	}
}
