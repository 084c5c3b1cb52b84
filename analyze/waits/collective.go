package waits

import (
	"slackline/model/timeline"
	"slackline/model/unit"
)

// collective describes for a kind of collective operation which members depend on which and which wait. Operations that
// no wait state lists neither wait nor synchronize: their dependences are unknown.
type collective struct {
	ops        []timeline.Op
	depends    func(root, i, j int) bool // whether the completion of member i needs member j to have entered
	detect     func(*instance)           // nil: its members synchronize, but their waiting is not a wait state
	completion Completion                // name of the time after the last member entered
}

// dependsOnAll lets the completion of every member need all others.
func dependsOnAll(_, _, _ int) bool { return true }

// instance is one instance of a collective operation, as much of it as decides who waits.
type instance struct {
	root  int // index in parts, -1: none
	parts []part
	waits []instanceWait
}

// part is what one member did.
type part struct {
	rank           int32         // order of members that enter at the same time
	issued         unit.Duration // when it entered
	done           span          // the call in which its operation completed
	sent, received int64
	test           bool // that call only tested
}

// span is the time of a call.
type span struct{ enter, leave unit.Duration }

// instanceWait is a wait of a member for another one.
type instanceWait struct {
	member, cause int
	amount        unit.Duration
}

func (o *instance) hasRoot() bool { return o.root >= 0 && o.root < len(o.parts) }

// later reports whether member i entered after member j; of two that entered at the same time the one with the higher
// rank counts as the earlier one.
func (o *instance) later(i, j int) bool {
	a, b := &o.parts[i], &o.parts[j]
	return a.issued > b.issued || a.issued == b.issued && a.rank < b.rank
}

// last returns the last of certain members to enter, -1 if there are none.
func (o *instance) last(of func(*part) bool) int {
	z := -1
	for i := range o.parts {
		if of(&o.parts[i]) && (z < 0 || o.later(i, z)) {
			z = i
		}
	}
	return z
}

// wait notes that member i waited for another one until a certain moment.
func (o *instance) wait(i, cause int, until unit.Duration) {
	p := &o.parts[i]
	if amount := min(until, p.done.leave) - p.done.enter; amount > 0 && !p.test {
		o.waits = append(o.waits, instanceWait{i, cause, amount})
	}
}

// Completion is a kind of time in a collective that is not waiting: after the last member entered and the first one
// left.
type Completion uint8

// The kinds of completion.
const (
	noCompletion Completion = iota
	BarrierCompletion
	NxNCompletion
)

// String is the name of the completion in results.
func (c Completion) String() string {
	return [...]string{"none", "barrier_completion", "nxn_completion"}[c]
}

// MarshalText returns the name of the completion.
func (c Completion) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// complete calls add with the completion time of each member that has one: leave - max(first leave, enter of the last).
// Of an n-to-n operation only members that send and receive count.
func (c *collective) complete(o *instance, add func(member int, d unit.Duration)) {
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
