package waits

import (
	"slackline/model/timeline"
	"slackline/model/unit"
)

// leaveWaits counts time without a CPU during a wait state as waiting: it changed nothing. The rest does not count as computation of the
// call path that it is in; it is a cause of its own.
func (a *analysis) leaveWaits() {
	if !a.tl.HasLacks() {
		return
	}
	a.each(len(a.tl.Locations), func(l int) {
		var spans []timeline.Span
		last := never
		for i := a.first[l]; i < a.first[l+1]; i++ {
			s := &a.states[i]
			if from := max(s.enter, last); from < s.end() {
				spans = append(spans, timeline.Span{From: from, To: s.end()})
				last = s.end()
			}
		}
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
