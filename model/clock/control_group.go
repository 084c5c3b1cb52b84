package clock

import (
	"math"

	"slackline/model/unit"
)

// Group is processes that do something together.
type Group struct {
	Kind GroupKind
	Size int32
	Root int32 // of OneToAll and AllToOne
}

// GroupKind defines who waits for whom in a group.
type GroupKind uint8

// The kinds of groups.
const (
	AllToAll GroupKind = iota // no member ends before all began
	OneToAll                  // no member ends before the root began
	AllToOne                  // the root does not end before all began
	Prefix                    // no member ends before those with smaller numbers began
	Loose                     // no member waits for another
)

// unknown is the time of what has not happened yet, or need not.
const unknown = unit.Duration(math.MinInt64)

func never(n int) []unit.Duration {
	s := make([]unit.Duration, n)
	for i := range s {
		s[i] = unknown
	}
	return s
}

// groupState is what has happened in a group so far.
type groupState struct {
	Group
	begun      int32
	last       unit.Duration // start of the last member so far
	lastMember int32
	beforeLast unit.Duration // start of the last one beside it
	root       unit.Duration // start of the root
	firstEnd   unit.Duration // end of the first member to end; of AllToOne: end of the root
	violated   bool
	prefix     *prefixState
	waiters    []waiter
}

// prefixState is what a Prefix needs beside.
type prefixState struct {
	begins []unit.Duration // by member; of those before known: the last of them and all before
	ends   []unit.Duration // by member
	known  int32           // so many have begun without a gap
}

// waiter is a process that cannot end its part yet.
type waiter struct{ process, member int32 }

func newGroups(groups []Group) []groupState {
	states := make([]groupState, len(groups))
	for i, g := range groups {
		states[i] = groupState{Group: g, last: unknown, beforeLast: unknown, root: unknown, firstEnd: unknown}
		if g.Kind == Prefix {
			states[i].prefix = &prefixState{begins: never(int(g.Size)), ends: never(int(g.Size))}
		}
	}
	return states
}

// begin notes that a member began at t.
func (g *groupState) begin(member int32, t unit.Duration) {
	g.begun++
	if t > g.last || g.last == unknown {
		g.beforeLast, g.last, g.lastMember = g.last, t, member
	} else {
		g.beforeLast = max(g.beforeLast, t)
	}
	if member == g.Root {
		g.root = t
	}
	if p := g.prefix; p != nil {
		p.begins[member] = t
		for p.known < g.Size && p.begins[p.known] != unknown {
			if p.known > 0 {
				p.begins[p.known] = max(p.begins[p.known], p.begins[p.known-1])
			}
			p.known++
		}
	}
}

// needed returns the start that a member cannot end before, unknown if there is none; false if it
// has not happened yet. Nobody waits for itself.
func (g *groupState) needed(member int32) (unit.Duration, bool) {
	switch g.Kind {
	case OneToAll:
		if member == g.Root {
			return unknown, true
		}
		return g.root, g.root != unknown
	case AllToOne:
		if member != g.Root {
			return unknown, true
		}
	case Prefix:
		if member == 0 {
			return unknown, true
		}
		return g.prefix.begins[member-1], g.prefix.known >= member
	case Loose:
		return unknown, true
	}
	if g.begun < g.Size {
		return 0, false
	}
	if member == g.lastMember {
		return g.beforeLast, true
	}
	return g.last, true
}

// end notes that a member ended at t.
func (g *groupState) end(member int32, t unit.Duration) {
	if g.prefix != nil {
		g.prefix.ends[member] = t
	}
	if g.Kind == AllToOne && member != g.Root {
		return
	}
	if g.firstEnd == unknown || t < g.firstEnd {
		g.firstEnd = t
	}
}

// close turns the ends of a Prefix into the first end of all members from one on.
func (g *groupState) close() {
	if g.prefix == nil {
		return
	}
	ends := g.prefix.ends
	for i := len(ends) - 2; i >= 0; i-- {
		if ends[i] == unknown || ends[i+1] != unknown && ends[i+1] < ends[i] {
			ends[i] = ends[i+1]
		}
	}
}

// latestBegin returns the time that a member's begin can be moved to without making an end impossible;
// false if nothing depends on it.
func (g *groupState) latestBegin(member int32) (unit.Duration, bool) {
	switch g.Kind {
	case Loose:
		return 0, false
	case OneToAll:
		if member != g.Root {
			return 0, false
		}
	case Prefix:
		if member+1 >= g.Size {
			return 0, false
		}
		end := g.prefix.ends[member+1]
		return end, end != unknown
	}
	return g.firstEnd, g.firstEnd != unknown
}

// released takes the processes that can go on now.
func (g *groupState) released(visit func(process int32)) {
	if len(g.waiters) == 0 || g.Kind == AllToAll && g.begun < g.Size || g.Kind == OneToAll && g.root == unknown {
		return
	}
	kept := g.waiters[:0]
	for _, w := range g.waiters {
		if _, ok := g.needed(w.member); ok {
			visit(w.process)
		} else {
			kept = append(kept, w)
		}
	}
	g.waiters = kept
}
