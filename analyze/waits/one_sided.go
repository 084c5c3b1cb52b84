package waits

import (
	"slackline/model/timeline"
	"slackline/model/unit"
)

// epochs looks at the epochs of one-sided communication: it finds which calls waited for which calls of another location, and which of
// them synchronized.
type epochs struct {
	a     *analysis
	kind  *kind
	found *candidates
	pairs []epochPair
}

// epochPair is a pair of calls that depend on each other; see contact.
type epochPair struct{ location, call, other, otherCall int32 }

// readEpochs finds the waits and contacts of one-sided communication. There is little of it beside messages, so one worker is enough.
func (a *analysis) readEpochs(found []candidates) {
	e := &epochs{a: a, found: &found[0]}
	for _, k := range kinds {
		if k.epochs != nil {
			e.kind = k
			k.epochs(a, e)
		}
	}
	a.addContacts(e.pairs) // none if causes are not wanted
}

// wait notes that a call waited for a call of another location to start.
func (e *epochs) wait(location int32, c timeline.EpochCall, other, otherCall int32, amount unit.Duration, reference int32) {
	if amount <= 0 || location == other || !e.a.isHere(location) || e.a.isTest(location, c.Call) {
		return
	}
	e.found.add(candidate{
		metric: e.kind.metric, amount: amount, location: location, call: c.Call, cause: other, causeCall: otherCall,
		reference: reference, seq: c.Seq,
	})
}

// meet notes that the completion of a call needs a call of another location.
func (e *epochs) meet(location, call, other, otherCall int32) {
	if !e.a.causeless && location != other && call >= 0 && otherCall >= 0 && (e.a.isHere(location) || e.a.isHere(other)) &&
		!e.a.isTest(location, call) {
		e.pairs = append(e.pairs, epochPair{location, call, other, otherCall})
	}
}

// lastEntered returns the last of some calls to be entered, of calls that were entered at the same time that of the lowest rank; -1 if
// there are none.
func (e *epochs) lastEntered(n int, call func(i int) (location, call int32)) int {
	z := -1
	var last unit.Duration
	rank := 0
	for i := range n {
		location, c := call(i)
		if c < 0 {
			continue
		}
		enter, r := e.a.calls(location).Enter[c], e.a.rankOf(location)
		if z < 0 || enter > last || enter == last && r < rank {
			z, last, rank = i, enter, r
		}
	}
	return z
}
