package waits

import (
	"cmp"
	"context"
	"slices"

	"slackline/analyze/profile"
	"slackline/internal/parallel"
	"slackline/internal/spill"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// State is one wait state.
type State struct {
	Metric       Metric
	Rank, Thread int
	Path         int32
	At           unit.Duration // when it began
	Amount       unit.Duration
	Cause        int   // rank that was late
	CauseThread  int   // and its thread
	CausePath    int32 // call path of the operation that was late
	Since        unit.Duration
	Met          bool   // whether the two had synchronized before, at Since
	Sub          Metric // the sub-state that it belongs to; None if it has none
	Uncertain    bool   // shorter than the error of the clocks
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
		list = append(list, r.State(i))
	}
	return list
}

// State returns a wait state by its number.
func (r *Result) State(i int) State {
	s := &r.a.states[i]
	at, cause := &r.a.tl.Locations[s.location], &r.a.tl.Locations[s.cause]
	return State{
		Metric: s.metric, Rank: at.Rank, Thread: at.Thread, Path: r.a.statePath(i), At: s.enter, Amount: s.amount,
		Cause: cause.Rank, CauseThread: cause.Thread, CausePath: r.a.pathOf(s.cause, s.causeCall),
		Since: s.since, Met: s.since != never, Sub: s.sub, Uncertain: s.uncertain, number: i,
	}
}

// EachState calls visit for all wait states, by rank and thread, then by time; those of idle threads are
// left out.
func (r *Result) EachState(visit func(*State)) {
	for i := range r.a.states {
		s := r.State(i)
		visit(&s)
	}
}

// StatesOf returns the numbers of the wait states of a location, from first to before end, by time.
func (r *Result) StatesOf(location int32) (first, end int) {
	return r.a.first[location], r.a.first[location+1]
}

// Windows answers how long locations were in which call path between two moments; what they had no CPU for while they waited is waiting.
func (r *Result) Windows() *profile.Windows { return r.a.windows }

// Number is the number of the wait state: from 0 on, by rank and thread, then by time.
func (s *State) Number() int { return s.number }

// SpanOf returns when a wait state was, by its number, and its metric: from its first moment to its last; see SpansOf.
func (r *Result) SpanOf(number int) (metric Metric, from, to unit.Duration) {
	s := &r.a.states[number]
	if spans := r.SpansOf(number); len(spans) > 0 {
		return s.metric, spans[0].From, spans[len(spans)-1].To
	}
	return s.metric, s.enter, s.end()
}

// FirstOf returns how much of a wait state, from its start, counts for another metric than its own, by its number, and for which: of
// waits of a root, what comes before the first sender.
func (r *Result) FirstOf(number int) (Metric, unit.Duration) {
	s := &r.a.states[number]
	if s.first == 0 {
		return None, 0
	}
	return kinds[s.metric].before.metric, s.first
}

// SpansOf returns which parts of the time of a wait state count, by its number; none: all of it. Waits of streams may have gaps, in which
// their device does something else.
func (r *Result) SpansOf(number int) []timeline.Span {
	if r.a.devices == nil {
		return nil
	}
	return r.a.devices.details[number].spans
}

// CallsOf returns the call that waited and the one that was late, by the number of the wait state; the latter is one of
// the location cause.
func (r *Result) CallsOf(number int) (call, cause, causeCall int32) {
	s := &r.a.states[number]
	return s.call, s.cause, s.causeCall
}

// Blame is the largest cause of a wait state: a call path in which the one that came late spent more time, or a wait
// state of its own.
type Blame struct {
	Kind     CauseKind
	Location int32 // that came late
	Path     int32
	State    int           // of Waited: the number of the longest wait state; else -1
	Share    unit.Duration // of the waiting time
	From, To unit.Duration // when it was: since the two last synchronized, up to the operation that was late
}

// Blame finds the largest cause of a wait state by its number. Waits of the one that came late count as one cause: they
// are followed if they are greater together than every call path.
func (r *Result) Blame(number int) Blame {
	return newExplainer(r.a).blame(r.a, number)
}

func (x *explainer) blame(a *analysis, number int) Blame {
	s := &a.states[number]
	of, _ := a.intervals(number)
	b := Blame{Kind: Unknown, Location: s.cause, State: -1, From: of.from, To: max(of.from, of.to), Share: s.amount}
	x.charge(charged{number, unit.SumOf(s.amount)})
	c := &x.known
	if c.total == 0 {
		return b
	}
	var most, waited, longest unit.Duration
	for i, path := range c.paths {
		if share := x.shares[i].Duration(); share > most || b.Kind == Unknown {
			b.Kind, b.Path, most = Excess, path, share
		}
	}
	b.Share = most
	largest := -1
	for i, w := range c.states {
		share := x.shares[len(c.paths)+i].Duration()
		waited += share
		if largest < 0 || share > longest {
			largest, longest = w, share
		}
	}
	if largest >= 0 && (waited > most || b.Kind == Unknown) && a.states[largest].order > s.order {
		b.Kind, b.State, b.Path, b.Share = Waited, largest, a.statePath(largest), waited
	}
	return b
}

// Origin is where the chain of the largest causes of a wait state begins: a call path on a rank.
type Origin struct {
	Rank int32 // -1: not known
	Path int32
}

// Origins returns the origins of all wait states, by their numbers.
func (r *Result) Origins(ctx context.Context) ([]Origin, error) {
	a := r.a
	n := len(a.states)
	origins, order := spill.Make[Origin](a.tl.Space, n, n), spill.Make[int32](a.tl.Space, n, n)
	follow := spill.Make[int32](a.tl.Space, n, n) // the wait state to follow; -1: none
	workers := make([]*explainer, max(a.threads, 1))
	parallel.Chunks(len(a.states), stateChunk, len(workers), func(worker, from, to int) {
		if workers[worker] == nil {
			workers[worker] = newExplainer(a)
		}
		for i := from; i < to && ctx.Err() == nil; i++ {
			b := workers[worker].blame(a, i)
			origins[i], follow[i] = Origin{int32(a.rankOf(b.Location)), b.Path}, int32(b.State)
			if b.Kind == Unknown {
				origins[i].Rank = -1
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range order {
		order[i] = int32(i)
	}
	// Causes were accounted for after what they caused.
	slices.SortFunc(order, func(x, y int32) int { return cmp.Compare(a.states[y].order, a.states[x].order) })
	for _, i := range order {
		if follow[i] >= 0 {
			origins[i] = origins[follow[i]]
		}
	}
	return origins, nil
}
