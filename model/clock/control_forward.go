package clock

import (
	"cmp"
	"slices"

	"slackline/model/unit"
)

// forward is the pass in which clocks jump.
type forward struct {
	*Run
	shifts     [][]unit.Duration
	next       []int           // by process: the next moment
	sent       []unit.Duration // by message, corrected
	received   []unit.Duration // by message, corrected
	waiter     []int32         // by message: the process that waits for it, -1: none
	groups     []groupState
	ready      []int32
	unresolved int64
	tell       func(m *Moment, t unit.Duration) // called with what happens here, if there are others; may be nil
}

func newForward(r *Run) *forward {
	f := &forward{
		Run: r, shifts: make([][]unit.Duration, len(r.Moments)), next: make([]int, len(r.Moments)),
		sent: never(r.Messages), received: never(r.Messages), waiter: make([]int32, r.Messages),
		groups: newGroups(r.Groups),
	}
	for i := range f.waiter {
		f.waiter[i] = -1
	}
	for p, moments := range r.Moments {
		f.shifts[p] = make([]unit.Duration, len(moments))
		f.ready = append(f.ready, int32(p))
	}
	return f
}

// run goes through all processes, each as far as what it needs is known. If none can go on, conditions
// contradict each other: then those that would go on first do so without.
func (f *forward) run() {
	for {
		f.drain()
		stuck := f.stuck()
		if len(stuck) == 0 {
			return
		}
		// One is enough mostly. With every further round more go on, so that the number of rounds stays
		// small whatever the run is like.
		for _, p := range stuck[:min(len(stuck), 1+int(f.unresolved))] {
			f.unresolved++
			f.process(p, true)
		}
	}
}

// drain lets all processes go on that can.
func (f *forward) drain() {
	for len(f.ready) > 0 {
		p := f.ready[len(f.ready)-1]
		f.ready = f.ready[:len(f.ready)-1]
		f.process(p, false)
	}
}

// stuck returns the processes that are not at their ends, those with the earliest next moment first.
func (f *forward) stuck() []int32 {
	var stuck []int32
	for p, moments := range f.Moments {
		if f.next[p] < len(moments) {
			stuck = append(stuck, int32(p))
		}
	}
	at := func(p int32) unit.Duration { return f.Moments[p][f.next[p]].Time }
	slices.SortStableFunc(stuck, func(a, b int32) int { return cmp.Compare(at(a), at(b)) })
	return stuck
}

// process goes through the moments of a process until it needs something that is not known; if forced,
// it goes on beyond the first such moment.
func (f *forward) process(p int32, forced bool) {
	moments, shifts := f.Moments[p], f.shifts[p]
	for i := f.next[p]; i < len(moments); i++ {
		m := &moments[i]
		after, known := f.needed(m)
		if !known && !forced {
			f.wait(p, m)
			return
		}
		shift := unit.Duration(0)
		if i > 0 {
			shift = After(moments[i-1].Time, shifts[i-1], m.Time)
		}
		if !known {
			forced = false
		} else if after != unknown {
			shift = max(shift, after+f.Latency-m.Time)
		}
		shifts[i] = shift
		f.next[p] = i + 1
		f.happened(m, m.Time+shift)
		if f.tell != nil {
			f.tell(m, m.Time+shift)
		}
	}
}

// needed returns the time that a moment cannot be before, unknown if there is none; false if it is not
// known yet.
func (f *forward) needed(m *Moment) (unit.Duration, bool) {
	switch m.Kind {
	case Received:
		return f.sent[m.Join], f.sent[m.Join] != unknown
	case End:
		return f.groups[m.Join].needed(m.Member)
	}
	return unknown, true
}

// wait notes that a process cannot go on.
func (f *forward) wait(p int32, m *Moment) {
	if m.Kind == Received {
		f.waiter[m.Join] = p
	} else {
		g := &f.groups[m.Join]
		g.waiters = append(g.waiters, waiter{p, m.Member})
	}
}

// happened notes the corrected time of a moment and wakes those that wait for it.
func (f *forward) happened(m *Moment, t unit.Duration) {
	switch m.Kind {
	case Sent:
		f.sent[m.Join] = t
		if p := f.waiter[m.Join]; p >= 0 {
			f.waiter[m.Join] = -1
			f.wake(p)
		}
	case Received:
		f.received[m.Join] = t
	case Begin:
		g := &f.groups[m.Join]
		g.begin(m.Member, t)
		g.released(f.wake)
	case End:
		f.groups[m.Join].end(m.Member, t)
	}
}

func (f *forward) wake(p int32) { f.ready = append(f.ready, p) }

// spread is the pass in which jumps are spread over the time before them. Ends are only moved to later
// times by it, so that what limits a start is where its end was before.
func (f *forward) spread() {
	for i := range f.groups {
		f.groups[i].close()
	}
	for p, moments := range f.Moments {
		shifts := f.shifts[p]
		for i := len(moments) - 2; i >= 0; i-- {
			shift := Ahead(moments[i+1].Time, shifts[i+1], moments[i].Time)
			if latest, ok := f.latest(&moments[i]); ok {
				shift = min(shift, latest-f.Latency-moments[i].Time)
			}
			shifts[i] = max(shifts[i], shift)
		}
	}
}

// latest returns the corrected time that a moment must be before; false if there is none.
func (f *forward) latest(m *Moment) (unit.Duration, bool) {
	switch m.Kind {
	case Sent:
		return f.received[m.Join], f.received[m.Join] != unknown
	case Begin:
		return f.groups[m.Join].latestBegin(m.Member)
	}
	return 0, false
}
