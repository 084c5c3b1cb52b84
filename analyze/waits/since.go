package waits

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// never is the instant of a synchronization that did not happen.
const never = unit.Duration(math.MinInt64)

// lastSync returns the latest instant at which two locations were both in operations that depend on each
// other and precede the given calls; never if there is none.
func (a *analysis) lastSync(x, xCall, y, yCall int32) unit.Duration {
	limit := min(a.calls(x).Enter[xCall], a.calls(y).Enter[yCall])
	best := max(a.lastContact(x, xCall, y, yCall, limit), a.lastContact(y, yCall, x, xCall, limit))
	return a.lastPoint(x, xCall, y, yCall, best, limit)
}

// lastPoint improves the instant best by synchronization points of the two locations. It goes back through the
// points of both at the same time: each common one is in both lists, so the end of one is enough. Only those of x are
// known if y is elsewhere.
func (a *analysis) lastPoint(x, xCall, y, yCall int32, best, limit unit.Duration) unit.Duration {
	ofX, ofY := a.joinings[x], a.joinings[y]
	if !a.isHere(y) {
		for i := lastJoining(ofX, xCall); i >= 0 && ofX[i].bound > best; i-- {
			best = max(best, a.instant(&ofX[i], x, xCall, y, yCall, limit))
		}
		return best
	}
	i, j := lastJoining(ofX, xCall), lastJoining(ofY, yCall)
	for i >= 0 && j >= 0 && ofX[i].bound > best && ofY[j].bound > best {
		best = max(best, a.instant(&ofX[i], x, xCall, y, yCall, limit))
		if ofX[i].point != ofY[j].point {
			best = max(best, a.instant(&ofY[j], y, yCall, x, xCall, limit))
		}
		i--
		j--
	}
	return best
}

// lastJoining finds the last joining that precedes a call, -1 if there is none.
func lastJoining(list []joining, call int32) int {
	return sort.Search(len(list), func(i int) bool { return list[i].end > call }) - 1
}

// instant is the latest instant up to limit of a synchronization point between a location that joined it and another one, of
// operations that precede the given calls; never if there is none.
func (a *analysis) instant(j *joining, location, call, other, otherCall int32, limit unit.Duration) unit.Duration {
	member := a.memberAt(j.point, other)
	if member < 0 {
		return never
	}
	issue, done, test := a.operations(j.point, j.member)
	otherIssue, otherDone, otherTest := a.operations(j.point, member)
	best := never
	before := func(mine, others endpoint) bool {
		return mine.location == location && mine.end <= call && others.location == other && others.end <= otherCall
	}
	if !test && before(done, otherIssue) && a.depends(j.point, j.member, member) {
		best = max(best, overlap(done.span, otherIssue.span, limit))
	}
	if !otherTest && before(issue, otherDone) && a.depends(j.point, member, j.member) {
		best = max(best, overlap(otherDone.span, issue.span, limit))
	}
	return best
}

// overlap is the last instant at which both operations go on; never if they do not overlap, or beyond the limit.
func overlap(x, y span, limit unit.Duration) unit.Duration {
	instant := min(x.leave, y.leave)
	if max(x.enter, y.enter) > instant || instant > limit {
		return never
	}
	return instant
}

// leaveWaits counts time without a CPU during a wait state, and while a worker is idle, as waiting: it changed nothing. The rest does not
// count as computation of the call path that it is in; it is a cause of its own.
func (a *analysis) leaveWaits() {
	if !a.tl.HasLacks() {
		return
	}
	idle := make([][]timeline.Span, len(a.tl.Locations))
	for i := range a.idle {
		for _, l := range a.idle[i].who {
			if len(a.tl.Locations[l].NoCPU) > 0 {
				idle[l] = append(idle[l], timeline.Span{From: a.idle[i].from, To: a.idle[i].to})
			}
		}
	}
	a.each(len(a.tl.Locations), func(l int) {
		spans := idle[l]
		for i := a.first[l]; i < a.first[l+1]; i++ {
			spans = append(spans, timeline.Span{From: a.states[i].enter, To: a.states[i].end()})
		}
		slices.SortFunc(spans, func(x, y timeline.Span) int { return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(y.To, x.To)) })
		last := never
		spans = slices.DeleteFunc(spans, func(s timeline.Span) bool { // what lies within another one
			inside := s.To <= last
			last = max(last, s.To)
			return inside
		})
		a.windows.Waited(int32(l), spans)
	})
}

// since is when the interval begins in which a location that waits is compared with the one that it waits for: they last synchronized then,
// or the thread that waits was born, as what others did before that did not delay it. What was done before the birth of the other thread is
// up to the one that started it: the master of its rank, unless that is the one that waits.
func (a *analysis) since(waits, call, cause, causeCall int32) unit.Duration {
	since := max(a.lastSync(waits, call, cause, causeCall), a.bornAt(waits, a.calls(waits).Enter[call]))
	born := a.bornAt(cause, a.calls(cause).Enter[causeCall])
	if since >= born {
		return since
	}
	rank := a.rankOf(cause)
	if master := a.masters[rank]; master != cause && rank != a.rankOf(waits) {
		return max(a.bornAt(waits, a.calls(waits).Enter[call]), a.lastSyncBefore(waits, call, master, born))
	}
	return born
}

// bornAt is when the thread was born that a location has at a moment; never if it was there from the start.
func (a *analysis) bornAt(location int32, at unit.Duration) unit.Duration {
	if l := &a.tl.Locations[location]; l.Alive != nil {
		return l.Born(at)
	}
	return never
}

// lastSyncBefore is lastSync of a call and a moment at the other location.
func (a *analysis) lastSyncBefore(x, xCall, y int32, at unit.Duration) unit.Duration {
	const any = math.MaxInt32 // the moment decides
	limit := min(a.calls(x).Enter[xCall], at)
	best := max(a.lastContact(x, xCall, y, any, limit), a.lastContact(y, any, x, xCall, limit))
	of := a.joinings[x]
	for i := lastJoining(of, xCall); i >= 0 && of[i].bound > best; i-- {
		best = max(best, a.instant(&of[i], x, xCall, y, any, limit))
	}
	return best
}
