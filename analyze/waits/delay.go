package waits

import (
	"slices"
	"sort"

	"slackline/analyze/profile"
	"slackline/model/unit"
)

// causes are the reasons why a location came late to an operation: call paths in which it spent more
// time than the one that waited, and its own wait states. Weights of both are in the order of the entries:
// paths by name, then wait states by time.
type causes struct {
	paths   []int32
	states  []propagation
	weights []int64
	total   int64

	names   *profile.Paths
	sums    *profile.Sums
	waiting []propagation // of the location that waited
	unseen  int64         // how much of the amount lies before what was recorded of the cause
	encoded []byte
}

func newCauses(p *profile.Paths) *causes { return &causes{names: p, sums: profile.NewSums(p)} }

// interval is the time of a location that is compared: up to the enter of a call.
type interval struct {
	location int32
	from, to unit.Duration
	before   int32 // that call
	states   int   // number of wait states before it
}

// intervals returns what the causing and the waiting location did since they last synchronized.
func (a *analysis) intervals(i int) (of, waiter interval) {
	s := &a.states[i]
	of = interval{s.cause, s.since, a.calls(s.cause).Enter[s.causeCall], s.causeCall, int(s.before)}
	waiter = interval{s.location, s.since, s.enter, s.call, i - a.first[s.location]}
	if a.devices != nil && a.devices.local(a, i) {
		of.from, of.to = a.devices.interval(a, i)
		waiter.from = of.from
	} else if s.since == never {
		of.from, waiter.from = a.firstEvent(s.cause), a.tl.Locations[s.location].First
	}
	return of, waiter
}

// firstEvent is when something first happened at a location, or at the master of its rank if that started its thread.
func (a *analysis) firstEvent(location int32) unit.Duration {
	if l := &a.tl.Locations[location]; l.Alive != nil {
		location = a.masters[l.Rank]
	}
	return a.tl.Locations[location].First
}

// creator is the part of an interval before the thread of its location was born, of the master of the rank, which started it; false if
// there is none.
func (a *analysis) creator(of interval) (interval, bool) {
	born, master := a.bornAt(of.location, of.to), a.masters[a.rankOf(of.location)]
	if of.from >= born || master == of.location {
		return interval{}, false
	}
	enter, states := a.calls(master).Enter, a.states[a.first[master]:a.first[master+1]]
	return interval{
		location: master, from: of.from, to: born,
		before: int32(sort.Search(len(enter), func(i int) bool { return enter[i] >= born })),
		states: sort.Search(len(states), func(i int) bool { return states[i].enter >= born }),
	}, true
}

// statesOf appends the wait states in an interval.
func (a *analysis) statesOf(list []propagation, of interval) []propagation {
	if before, ok := a.creator(of); ok {
		list = a.endedBy(a.statesIn(list, before.location, before.from, before.to, before.states), before.to)
		of.from = before.to
	}
	return a.statesIn(list, of.location, of.from, of.to, of.states)
}

// endedBy leaves of wait states those that ended by a moment: whoever still waited then did not start a thread.
func (a *analysis) endedBy(list []propagation, t unit.Duration) []propagation {
	return slices.DeleteFunc(list, func(p propagation) bool { return a.states[p.state].end() > t })
}

// find finds the causes of wait state number i.
func (c *causes) find(a *analysis, i int) {
	if a.devices != nil && a.devices.local(a, i) {
		a.devices.find(a, c, i)
		return
	}
	c.unseen = 0
	of, waiter := a.intervals(i)
	c.begin(a, of)
	c.sums.Second()
	a.windows.Add(c.sums, waiter.location, waiter.from, waiter.to, waiter.before)
	c.waiting = a.statesIn(c.waiting[:0], waiter.location, waiter.from, waiter.to, waiter.states)
	for _, w := range c.waiting {
		c.sums.Subtract(a.statePath(w.state), w.part)
	}
	c.finish()
}

// findSerial finds the causes of idle threads: all that their master did.
func (c *causes) findSerial(a *analysis, p *idlePhase) {
	c.begin(a, p.interval())
	c.finish()
}

// begin takes the profile of the causing location without its waits.
func (c *causes) begin(a *analysis, of interval) {
	c.sums.Clear()
	c.states = c.states[:0]
	if before, ok := a.creator(of); ok {
		c.spend(a, before)
		c.states = a.endedBy(c.states, before.to)
		of.from = before.to
	}
	c.spend(a, of)
}

// spend adds what a location did in an interval.
func (c *causes) spend(a *analysis, of interval) {
	a.windows.Add(c.sums, of.location, of.from, of.to, of.before)
	n := len(c.states)
	c.states = a.statesIn(c.states, of.location, of.from, of.to, of.states)
	for _, w := range c.states[n:] {
		c.sums.Subtract(a.statePath(w.state), w.part)
	}
}

// finish lists the paths with an excess and adds up the weights. Time when recording was off explains nothing.
func (c *causes) finish() {
	c.paths, c.weights, c.total = c.paths[:0], c.weights[:0], 0
	for _, path := range c.sums.Touched {
		if path != 0 && c.sums.First(path) > 0 && c.sums.Excess(path) > 0 && !c.names.Unrecorded(path) {
			c.paths = append(c.paths, path)
		}
	}
	slices.Sort(c.paths)
	for _, path := range c.paths {
		c.weigh(c.sums.Excess(path))
	}
	for _, w := range c.states {
		c.weigh(w.part)
	}
}

func (c *causes) weigh(d unit.Duration) {
	c.weights = append(c.weights, int64(d))
	c.total += int64(d)
}

// statePath is the number of the call path of a wait state.
func (a *analysis) statePath(i int) int32 {
	return a.pathOf(a.states[i].location, a.states[i].call)
}
