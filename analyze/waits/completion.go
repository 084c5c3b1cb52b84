package waits

import "slackline/model/unit"

// Completion is a kind of time in a collective that is no waiting: what passes after the last one
// came and somebody has left.
type Completion uint8

// The kinds of completion.
const (
	noCompletion Completion = iota
	BarrierCompletion
	NxNCompletion
)

// String returns the name of the completion in results.
func (c Completion) String() string {
	switch c {
	case BarrierCompletion:
		return "barrier_completion"
	case NxNCompletion:
		return "nxn_completion"
	}
	return "none"
}

// complete calls add with the completion time of each member that has one: leave - max(first leave,
// enter of the last). Of an n-to-n operation only those count that send and receive.
func (c *class) complete(o *occasion, add func(member int, d unit.Duration)) {
	counts := func(p *part) bool { return c.completion != NxNCompletion || p.sent > 0 && p.received > 0 }
	z := o.last(func(p *part) bool { return c.completion != NxNCompletion || p.sent > 0 })
	if z < 0 {
		return
	}
	first, some := unit.Duration(0), false
	for i := range o.parts {
		if p := &o.parts[i]; counts(p) && (!some || p.done.leave < first) {
			first, some = p.done.leave, true
		}
	}
	begin := max(first, o.parts[z].issued)
	for i := range o.parts {
		if p := &o.parts[i]; counts(p) && p.done.leave > begin {
			add(i, p.done.leave-begin)
		}
	}
}
