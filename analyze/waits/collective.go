package waits

import (
	"slackline/internal/parallel"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// collective describes for a kind of collective operation which members depend on which and which wait. Operations that
// no wait state lists neither wait nor synchronize: their dependences are unknown.
type collective struct {
	scope      timeline.Scope
	ops        []timeline.Op
	depends    func(v view, i, j int) bool // whether the completion of member i needs member j to have entered
	detect     func(*instance)
	completion Completion           // name of the time after the last member entered
	valid      func(*instance) bool // whether an instance counts at all; nil: always
	whole      bool                 // both groups of an intercommunicator count as one

	kind *kind
}

// dependsOnAll lets the completion of every member need all others.
func dependsOnAll(view, int, int) bool { return true }

// view is an instance of a collective operation in its timeline.
type view struct {
	tl *timeline.Timeline
	c  *timeline.Collective
}

func (v view) comm() *timeline.Comm { return &v.tl.Comms[v.c.Comm] }

// inter reports whether the instance is one between two groups.
func (v view) inter() bool { return v.c != nil && len(v.comm().Remote) > 0 }

// apart reports whether two members can have to do with each other: those of an intercommunicator only with the other group.
func (v view) apart(i, j int) bool {
	if !v.inter() {
		return true
	}
	local := len(v.comm().Members)
	return (i < local) != (j < local)
}

// peers are the members that one exchanges data with: all, or those of the other group.
func (v view) peers(i int) (from, to int) {
	c := v.comm()
	switch {
	case !v.inter():
		return 0, c.Size()
	case i < len(c.Members):
		return len(c.Members), c.Size()
	}
	return 0, len(c.Members)
}

// counts are the bytes by peer of a member.
func (v view) counts(i int) []int64 { return v.tl.CountsOf(&v.tl.Members[v.c.First+i]) }

// instance is one instance of a collective operation, as much of it as decides who waits.
type instance struct {
	view    // none of a synchronization point that is not a collective
	members []timeline.Member
	root    int // index in parts, -1: none
	parts   []part
	waits   []instanceWait
}

// sides lists who can wait for whom.
func (o *instance) sides() []side {
	n := len(o.parts)
	if !o.inter() {
		return []side{{0, n, 0, n}}
	}
	local := len(o.comm().Members)
	return []side{{0, local, local, n}, {local, n, 0, local}}
}

// side is some members that can wait, and some that they can wait for.
type side struct{ from, to, causeFrom, causeTo int }

// holds reports whether all members were inside at one instant: else the operation did not keep them together.
func (o *instance) holds() bool {
	first, last := o.parts[0].done.leave, o.parts[0].issued
	for i := range o.parts {
		first, last = min(first, o.parts[i].done.leave), max(last, o.parts[i].issued)
	}
	return first >= last
}

// held is the rule of operations that count only if they kept all members together.
func held(scope timeline.Scope, ops ...timeline.Op) collective {
	return collective{
		scope: scope, ops: ops, depends: dependsOnAll, detect: waitForLastOfAll, valid: (*instance).holds, whole: true,
	}
}

// findRules finds the rules of all collectives that count.
func (a *analysis) findRules() {
	a.rules = make([]uint8, len(a.tl.Collectives))
	instances := make([]instance, max(a.threads, 1))
	const chunk = 64
	parallel.Chunks(len(a.rules), chunk, a.threads, func(worker, from, to int) {
		for i := from; i < to; i++ {
			c := &a.tl.Collectives[i]
			a.rules[i] = ruleOf[c.Scope][c.Op]
			if rule := rules[a.rules[i]]; rule != nil && rule.valid != nil {
				if a.readInstance(&instances[worker], c); !rule.valid(&instances[worker]) {
					a.rules[i] = 0
				}
			}
		}
	})
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

// instanceWait is a wait of a member for another one; the first part of it may belong to another wait state.
type instanceWait struct {
	member, cause  int
	amount, before unit.Duration
}

func (o *instance) hasRoot() bool { return o.root >= 0 && o.root < len(o.parts) }

// later reports whether member i entered after member j; of two that entered at the same time the one with the higher
// rank counts as the earlier one.
func (o *instance) later(i, j int) bool {
	a, b := &o.parts[i], &o.parts[j]
	return a.issued > b.issued || a.issued == b.issued && a.rank < b.rank
}

// last returns the last of certain members to enter, -1 if there are none.
func (o *instance) last(of func(*part) bool) int { return o.lastOf(0, len(o.parts), of) }

// lastOf is last among some members.
func (o *instance) lastOf(from, to int, of func(*part) bool) int {
	z := -1
	for i := from; i < to; i++ {
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
		o.waits = append(o.waits, instanceWait{member: i, cause: cause, amount: amount})
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
