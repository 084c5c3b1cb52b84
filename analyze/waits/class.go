package waits

import (
	"slackline/model/timeline"
	"slackline/model/unit"
)

// class says of a kind of collective operation who depends on whom and who waits.
type class struct {
	metric     Metric
	ops        []timeline.Op
	depends    func(root, i, j int) bool // whether the completion of member i needs member j to have come
	detect     func(*occasion)           // nil: nobody is said to wait
	completion Completion                // what the time after the last one came is called
}

// classes are those of MPI's collectives. Operations of no class neither wait nor synchronise: who
// depends on whom is not known.
var classes = []*class{&barrierClass, &nxnClass, &lateBroadcastClass, &earlyReduceClass, &earlyScanClass}

// classOf is the class of an operation, nil if it has none.
var classOf = func() (of [256]*class) {
	for _, c := range classes {
		for _, op := range c.ops {
			of[op] = c
		}
	}
	return of
}()

// occasion is one instance of a collective operation, as much of it as decides who waits.
type occasion struct {
	root  int // index in parts, -1: none
	parts []part
	waits []occasionWait
}

// part is what one member did.
type part struct {
	rank           int32         // order of members that come at the same time
	issued         unit.Duration // when it came
	done           span          // the call in which its operation completed
	sent, received int64
	test           bool // that call only tested
}

// span is the time of a call.
type span struct{ enter, leave unit.Duration }

// occasionWait is a wait of a member for another one.
type occasionWait struct {
	member, cause int
	amount        unit.Duration
}

func (o *occasion) hasRoot() bool { return o.root >= 0 && o.root < len(o.parts) }

// later reports whether member i came after member j; of two that came at the same time the one with
// the higher rank counts as the earlier one.
func (o *occasion) later(i, j int) bool {
	a, b := &o.parts[i], &o.parts[j]
	return a.issued > b.issued || a.issued == b.issued && a.rank < b.rank
}

// last returns the last to come of certain members, -1 if there are none.
func (o *occasion) last(of func(*part) bool) int {
	z := -1
	for i := range o.parts {
		if of(&o.parts[i]) && (z < 0 || o.later(i, z)) {
			z = i
		}
	}
	return z
}

// wait notes that member i waited for another one until a certain moment.
func (o *occasion) wait(i, cause int, until unit.Duration) {
	p := &o.parts[i]
	if amount := min(until, p.done.leave) - p.done.enter; amount > 0 && !p.test {
		o.waits = append(o.waits, occasionWait{i, cause, amount})
	}
}
