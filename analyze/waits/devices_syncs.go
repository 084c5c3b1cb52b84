package waits

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"slackline/model/unit"
)

// rankSyncs are the synchronizations between processes, in whatever locations.
type rankSyncs struct {
	messages map[[2]int32][]messageSync // by ranks, the lower one first; by instant
	joinings [][]rankJoining            // by rank: parts in collectives and other synchronization points, by the end of their issue
}

// messageSync is a message whose two ends overlapped in time.
type messageSync struct {
	instant unit.Duration
	ends    [2]endpoint // of the lower rank, of the other one
}

// rankJoining is the part of a rank in a synchronization point.
type rankJoining struct {
	joining
	issued unit.Duration // end of the issue
	done   unit.Duration // end of its part
	latest unit.Duration // of it and those before
}

// precedes reports whether an operation comes before a call: in the order of the location, or by time on different ones.
func (a *analysis) precedes(e endpoint, location, call int32) bool {
	if e.location == location {
		return e.end <= call
	}
	return e.leave <= a.calls(location).Enter[call]
}

// findSyncs lists the synchronizations between processes.
func (a *analysis) findSyncs() rankSyncs {
	m := rankSyncs{messages: map[[2]int32][]messageSync{}, joinings: make([][]rankJoining, a.tl.Ranks)}
	add := func(x, y endpoint) {
		ranks := [2]int32{int32(a.rankOf(x.location)), int32(a.rankOf(y.location))}
		if ranks[0] == ranks[1] {
			return
		}
		if ranks[0] > ranks[1] {
			ranks[0], ranks[1], x, y = ranks[1], ranks[0], y, x
		}
		if instant := overlap(x.span, y.span, math.MaxInt64); instant != never {
			m.messages[ranks] = append(m.messages[ranks], messageSync{instant, [2]endpoint{x, y}})
		}
	}
	probes := a.tl.Probes()
	for i := range a.tl.Messages {
		msg := &a.tl.Messages[i]
		e := a.endsOf(msg)
		if _, look, ok := a.probeOf(probes, msg); ok {
			add(endpoint{e.send, msg.From}, endpoint{look, msg.Poster()})
		}
		if !e.recvTests {
			add(endpoint{e.send, msg.From}, endpoint{e.recv, msg.To})
		}
		if e.isDone && !e.doneTests && !(msg.SendBlocks() && msg.RecvBlocks()) {
			add(endpoint{e.done, msg.Completer()}, endpoint{e.post, msg.Poster()})
		}
	}
	for _, p := range a.pairs {
		add(endpoint{a.operationOf(p.other, p.otherCall), p.other}, endpoint{a.operationOf(p.location, p.call), p.location})
	}
	for _, list := range m.messages {
		slices.SortStableFunc(list, func(x, y messageSync) int { return cmp.Compare(x.instant, y.instant) })
	}
	for l := range a.joinings {
		rank := a.rankOf(int32(l))
		for _, j := range a.joinings[l] {
			if !a.isCollective(j.point) && a.pointAt(j.point).form != ofRanks {
				continue
			}
			issue, done, _ := a.operations(j.point, j.member)
			if int32(l) != done.location { // another thread completed it
				continue
			}
			m.joinings[rank] = append(m.joinings[rank], rankJoining{joining: j, issued: issue.leave, done: max(issue.leave, done.leave)})
		}
	}
	for _, list := range m.joinings {
		slices.SortFunc(list, func(x, y rankJoining) int {
			return cmp.Or(cmp.Compare(x.issued, y.issued), cmp.Compare(x.point, y.point))
		})
		for i := range list {
			if list[i].latest = list[i].done; i > 0 {
				list[i].latest = max(list[i].latest, list[i-1].latest)
			}
		}
	}
	return m
}

// last is the latest instant at which the processes of a wait state met, in operations that precede the one that waits and the one that
// it waits for; never if there is none.
func (m *rankSyncs) last(a *analysis, s *state) unit.Duration {
	w, d := int32(a.rankOf(s.location)), int32(a.rankOf(s.cause))
	ranks, mine := [2]int32{w, d}, 0
	if w > d {
		ranks, mine = [2]int32{d, w}, 1
	}
	best := never
	limit := min(a.calls(s.location).Enter[s.call], a.calls(s.cause).Enter[s.causeCall])
	list := m.messages[ranks]
	for i := sort.Search(len(list), func(i int) bool { return list[i].instant > limit }) - 1; i >= 0; i-- {
		if e := &list[i].ends; a.precedes(e[mine], s.location, s.call) && a.precedes(e[1-mine], s.cause, s.causeCall) {
			best = list[i].instant
			break
		}
	}
	// A common point is in the lists of both: the end of one is enough.
	of, other := m.joinings[w], m.joinings[d]
	before := func(list []rankJoining, location, call int32) int {
		enter := a.calls(location).Enter[call]
		return sort.Search(len(list), func(i int) bool { return list[i].issued > enter }) - 1
	}
	i, j := before(of, s.location, s.call), before(other, s.cause, s.causeCall)
	for i >= 0 && j >= 0 && of[i].latest > best && other[j].latest > best {
		if k := a.memberOf(of[i].point, d); k >= 0 {
			best = max(best, a.metAt(of[i].point, of[i].member, k, s))
		}
		if k := a.memberOf(other[j].point, w); k >= 0 {
			best = max(best, a.metAt(other[j].point, k, other[j].member, s))
		}
		i--
		j--
	}
	return best
}

// metAt is the latest instant at which two members were in a synchronization point, in operations that precede those of a wait state.
func (a *analysis) metAt(point, waiter, cause int32, s *state) unit.Duration {
	issue, done, test := a.operations(point, waiter)
	otherIssue, otherDone, otherTest := a.operations(point, cause)
	best := never
	met := func(mine, other endpoint) {
		if a.precedes(mine, s.location, s.call) && a.precedes(other, s.cause, s.causeCall) {
			best = max(best, overlap(mine.span, other.span, math.MaxInt64))
		}
	}
	if !test && a.depends(point, waiter, cause) {
		met(done, otherIssue)
	}
	if !otherTest && a.depends(point, cause, waiter) {
		met(issue, otherDone)
	}
	return best
}
