package clock

import "slackline/model/unit"

// Moment is something that joins a process to others: the start or the end of a message, or of a
// member's part in a collective operation.
type Moment struct {
	Time   unit.Duration
	Join   int32 // number of the message or of the group
	Member int32 // of a group: number of the process in it
	Kind   MomentKind
}

// MomentKind describes what a moment is.
type MomentKind uint8

// The kinds of moments.
const (
	Sent     MomentKind = iota // of message Join
	Received                   // of message Join
	Begin                      // of a member's part in group Join
	End                        // of a member's part in group Join
)

// Run is what happened, by process, in the order in which it happened there: times do not decrease.
type Run struct {
	Moments  [][]Moment
	Messages int // their number
	Groups   []Group
	Latency  unit.Duration // that everything between processes takes at least
}

// Violations are messages and groups that ended before they could.
type Violations struct {
	Messages, Groups int64
	Worst            unit.Duration // by how much, at most
}

// Controlled is what Control did.
type Controlled struct {
	Shifts        [][]unit.Duration // by process: what is to be added to the time of each moment, 0 or more
	Before, After Violations        // after it there are none, unless something is Unresolved
	Moved         int64             // moments that were moved
	Furthest      unit.Duration     // how far, at most
	Unresolved    int64             // conditions that were not kept because they contradict each other
}

// rate is how much clocks may run faster before a jump and slower after it to make up for it: 1 in
// rate. So no span of time without a jump in it changes by more than 1 %.
const rate = 100

// Control moves moments so that nothing ends before it can: the controlled logical clock of
// Rabenseifner, with the collective operations of Becker et al.
//
// Going forward, a clock jumps to where the end of a message or group is possible, and then runs slower
// than before until it shows the uncorrected time again. Going backward, the jump is spread over
// the time before it: the clock runs faster there, as far as nothing that begins there would then begin
// too late for its end. Moments only ever move to later times, and keep their order.
func Control(r *Run) Controlled {
	out := Controlled{Before: Check(r, nil)}
	f := newForward(r)
	f.run()
	f.spread()
	out.Shifts, out.Unresolved = f.shifts, f.unresolved
	out.Moved, out.Furthest = movedBy(out.Shifts)
	out.After = Check(r, out.Shifts)
	return out
}

// movedBy counts the moments that are moved, and returns how far at most.
func movedBy(all [][]unit.Duration) (moved int64, furthest unit.Duration) {
	for _, shifts := range all {
		for _, s := range shifts {
			if s > 0 {
				moved++
				furthest = max(furthest, s)
			}
		}
	}
	return moved, furthest
}

// Check finds the violations of a run whose moments are moved by shifts; nil: not at all.
func Check(r *Run, shifts [][]unit.Duration) Violations {
	x := newSeen(r)
	r.each(shifts, x.begin)
	r.each(shifts, x.end)
	return x.Violations
}

// each calls visit for all moments with their times, moved by shifts; nil: not at all.
func (r *Run) each(shifts [][]unit.Duration, visit func(m *Moment, t unit.Duration)) {
	for p, moments := range r.Moments {
		for i := range moments {
			t := moments[i].Time
			if shifts != nil {
				t += shifts[p][i]
			}
			visit(&moments[i], t)
		}
	}
}

// seen is what one must see to find violations: first when messages and groups begin, then when they end.
type seen struct {
	Violations
	latency unit.Duration
	sent    []unit.Duration
	groups  []groupState
}

func newSeen(r *Run) *seen {
	return &seen{latency: r.Latency, sent: never(r.Messages), groups: newGroups(r.Groups)}
}

// begin takes a moment that others cannot be before.
func (x *seen) begin(m *Moment, t unit.Duration) {
	switch m.Kind {
	case Sent:
		x.sent[m.Join] = t
	case Begin:
		x.groups[m.Join].begin(m.Member, t)
	}
}

// end counts a moment that is before what it needs.
func (x *seen) end(m *Moment, t unit.Duration) {
	switch m.Kind {
	case Received:
		if early := x.sent[m.Join] + x.latency - t; x.sent[m.Join] != unknown && early > 0 {
			x.Messages++
			x.Worst = max(x.Worst, early)
		}
	case End:
		g := &x.groups[m.Join]
		if after, ok := g.needed(m.Member); ok && after != unknown && after+x.latency > t {
			x.Worst = max(x.Worst, after+x.latency-t)
			if !g.violated {
				g.violated = true
				x.Groups++
			}
		}
	}
}

// Between returns what is to be added to a time t between two moments of a process at ta and tb that are
// moved by sa and sb: the clock runs slower after the first one and faster before the second one, or
// evenly if there is no room for that.
func Between(ta, sa, tb, sb, t unit.Duration) unit.Duration {
	if sb-(tb-ta)/rate > sa {
		share := float64(t-ta) / float64(tb-ta)
		return sa + unit.Duration(share*float64(sb-sa))
	}
	return max(After(ta, sa, t), Ahead(tb, sb, t))
}

// After returns what is to be added to a time t after the last moment of a process.
func After(ta, sa, t unit.Duration) unit.Duration { return max(0, sa-(t-ta)/rate) }

// Ahead returns what is to be added to a time t before the first moment of a process.
func Ahead(tb, sb, t unit.Duration) unit.Duration { return max(0, sb-(tb-t)/rate) }
