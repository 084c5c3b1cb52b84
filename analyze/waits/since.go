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
	return a.lastPoint(x, xCall, y, yCall, best)
}

// lastPoint improves the instant best by synchronization points of the two locations. It goes back through the
// points of both at the same time: each common one is in both lists, so the end of one is enough. Only those of x are
// known if y is elsewhere.
func (a *analysis) lastPoint(x, xCall, y, yCall int32, best unit.Duration) unit.Duration {
	ofX, ofY := a.joinings[x], a.joinings[y]
	if !a.isHere(y) {
		for i := lastJoining(ofX, xCall); i >= 0 && ofX[i].bound > best; i-- {
			best = max(best, a.instant(&ofX[i], xCall, y, yCall))
		}
		return best
	}
	i, j := lastJoining(ofX, xCall), lastJoining(ofY, yCall)
	for i >= 0 && j >= 0 && ofX[i].bound > best && ofY[j].bound > best {
		best = max(best, a.instant(&ofX[i], xCall, y, yCall))
		if ofX[i].point != ofY[j].point {
			best = max(best, a.instant(&ofY[j], yCall, x, xCall))
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

// instant is the latest instant of a synchronization point between the location of a joining and another one, of
// operations that precede the given calls; never if there is none.
func (a *analysis) instant(j *joining, call, other, otherCall int32) unit.Duration {
	member := a.memberAt(j.point, other)
	if member < 0 {
		return never
	}
	issue, done, test := a.operations(j.point, j.member)
	otherIssue, otherDone, otherTest := a.operations(j.point, member)
	best := never
	if !test && done.end <= call && otherIssue.end <= otherCall && a.depends(j.point, j.member, member) {
		best = max(best, overlap(done.span, otherIssue.span))
	}
	if !otherTest && otherDone.end <= otherCall && issue.end <= call && a.depends(j.point, member, j.member) {
		best = max(best, overlap(otherDone.span, issue.span))
	}
	return best
}

// overlap is the last instant at which both operations go on; never if they do not overlap.
func overlap(x, y span) unit.Duration {
	instant := min(x.leave, y.leave)
	if max(x.enter, y.enter) > instant {
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

// bornBefore is when both threads were there: what a rank did before the other one's thread started delays none. It is never if
// both were there from the start.
func (a *analysis) bornBefore(x, xCall, y, yCall int32) unit.Duration {
	born := never
	for _, end := range []struct{ location, call int32 }{{x, xCall}, {y, yCall}} {
		if l := &a.tl.Locations[end.location]; l.Alive != nil {
			born = max(born, l.Born(l.Calls.Enter[end.call]))
		}
	}
	return born
}
