package waits

import (
	"cmp"
	"slices"

	"slackline/model/unit"
)

// State is one wait state.
type State struct {
	Metric       Metric
	Rank, Thread int
	Path         int32
	At           unit.Duration // when it began
	Amount       unit.Duration
	Cause        int   // rank that is held responsible
	CauseThread  int   // and its thread
	CausePath    int32 // call path of the operation that was late
	Since        unit.Duration
	Met          bool // whether the two had met before, at Since
	WrongOrder   bool // a message that was sent earlier was received later
	Uncertain    bool // shorter than the error of the clocks
	number       int
}

// Largest returns the n longest wait states, the longest first. Idle threads are not among them.
func (r *Result) Largest(n int) []State {
	a := r.a
	order := make([]int, len(a.states))
	for i := range order {
		order[i] = i
	}
	longer := func(x, y int) int {
		return cmp.Or(cmp.Compare(a.states[y].amount, a.states[x].amount), cmp.Compare(a.states[x].enter, a.states[y].enter), cmp.Compare(x, y))
	}
	slices.SortFunc(order, longer)
	list := make([]State, 0, min(n, len(order)))
	for _, i := range order[:min(n, len(order))] {
		list = append(list, r.state(i))
	}
	return list
}

func (r *Result) state(i int) State {
	s := &r.a.states[i]
	at, cause := &r.Timeline.Locations[s.location], &r.Timeline.Locations[s.cause]
	return State{
		Metric: s.metric, Rank: at.Rank, Thread: at.Thread, Path: r.a.statePath(i), At: s.enter, Amount: s.amount,
		Cause: cause.Rank, CauseThread: cause.Thread, CausePath: r.a.pathOf(s.cause, s.causeCall),
		Since: s.since, Met: s.since != never, WrongOrder: s.wrongOrder != inOrder, Uncertain: s.uncertain, number: i,
	}
}

// EachState calls visit for all wait states, by rank and thread, then by time; those of idle threads are
// left out.
func (r *Result) EachState(visit func(*State)) {
	for i := range r.a.states {
		s := r.state(i)
		visit(&s)
	}
}
