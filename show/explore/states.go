package explore

import (
	"slices"
	"sort"

	"slackline/analyze/waits"
	"slackline/internal/phrase"
	"slackline/model/unit"
)

// answerStates lists single wait states.
func answerStates(v *view, f *findings, q *query) (any, error) {
	list := &States{States: []State{}}
	if q.given("largest") {
		for _, name := range []string{"from", "to", "first", "last", "ranks", "limit"} {
			if q.given(name) {
				q.refuse(name, "largest is about the whole run; leave %s out", name)
			}
		}
		n := int(q.number("largest", 1, MaxList, 1))
		for _, s := range f.largestStates(n) {
			list.States = append(list.States, v.state(f, &s))
		}
		list.Cut = f.stateCount() > n
		return list, q.err
	}
	from, to := q.span(v.length())
	r := q.rows(v)
	limit := q.limit(2000)
	q.few(r.first, r.last)
	if q.err != nil {
		return nil, q.err
	}
	for row := r.first; row < r.last && !list.Cut; row++ {
		location := r.at(row)
		number, _ := f.spans.firstIn(location, v.tl.Start+from)
		_, end := f.result.StatesOf(int32(location))
		for ; number < end; number++ {
			_, begin, until := f.result.SpanOf(number)
			if begin >= v.tl.Start+to {
				break
			}
			if until <= v.tl.Start+from || begin == until {
				continue
			}
			if list.Cut = len(list.States) == limit; list.Cut {
				break
			}
			s := f.result.State(number)
			list.States = append(list.States, v.state(f, &s))
		}
	}
	return list, nil
}

// stateCount is the number of single wait states, with those of which nothing counts.
func (f *findings) stateCount() int { return len(f.origins) }

// largestStates are the longest wait states of the run.
func (f *findings) largestStates(n int) []waits.State {
	all := f.largest()
	return all[:min(n, len(all))]
}

// state describes a wait state.
func (v *view) state(f *findings, s *waits.State) State {
	number := s.Number()
	call, cause, causeCall := f.result.CallsOf(number)
	_, from, to := f.result.SpanOf(number)
	state := State{
		State: number, Location: v.locationOf(s.Rank, s.Thread), Rank: s.Rank, Thread: s.Thread, Call: int(call), Path: int(s.Path),
		Metric: s.Metric.String(), Title: s.Metric.Info().Title, At: v.since(from), Amount: int64(s.Amount), End: v.since(to),
		CauseLocation: int(cause), CauseRank: s.Cause, CausePath: int(s.CausePath),
		CauseEnter: v.since(v.tl.Locations[cause].Calls.Enter[causeCall]),
		Met:        s.Met, Uncertain: s.Uncertain, Category: int(f.causeCategory(number)),
	}
	if spans := f.result.SpansOf(number); len(spans) > 1 {
		for _, s := range spans {
			state.Spans = append(state.Spans, []int64{v.since(s.From), v.since(s.To)})
		}
	}
	if s.Met {
		state.Since = v.since(s.Since)
	}
	if s.Sub != waits.None {
		state.Sub, state.SubTitle, state.SubShort = s.Sub.String(), s.Sub.Info().Title, s.Sub.Info().Short
	}
	return state
}

// locationOf is the location of a thread of a rank.
func (v *view) locationOf(rank, thread int) int {
	if thread < 0 { // a stream
		return len(v.run.Locations) - 1 - thread
	}
	all := v.run.Locations
	return sort.Search(len(all), func(i int) bool {
		return all[i].Rank > rank || all[i].Rank == rank && all[i].Thread >= thread
	})
}

// answerWait explains one wait state.
func answerWait(v *view, f *findings, q *query) (any, error) {
	number, err := v.chosenState(f, q)
	if err != nil {
		return nil, err
	}
	s := f.result.State(number)
	e := f.result.ExplainState(&s)
	a := &WaitAnswer{
		State: v.state(f, &s), Chain: v.chain(f, number), Explanation: *explanation(e), Roots: []Root{}, Rest: ps(e.Rest),
		Text: []Sentence{}, Advice: s.Metric.Info().Advice,
		Next: v.neighbor(f, number, 1), Previous: v.neighbor(f, number, -1),
	}
	for _, r := range e.Roots[:min(len(e.Roots), mostRoots)] {
		a.Roots = append(a.Roots, Root{Rank: r.Rank, Path: int(r.Path), Share: ps(r.Share)})
	}
	for _, r := range e.Roots[min(len(e.Roots), mostRoots):] {
		a.Rest += ps(r.Share)
	}
	for _, t := range e.Sentences() {
		a.Text = append(a.Text, Sentence{Depth: t.Depth, Text: phrase.Spaced(t.Text)})
	}
	return a, nil
}

// mostRoots is how many roots of a wait state are listed.
const mostRoots = 100

// chosenState is the number of the wait state that is asked for.
func (v *view) chosenState(f *findings, q *query) (int, error) {
	if q.given("state") {
		if f.stateCount() == 0 {
			return 0, notFound("no rank waits in this run")
		}
		return int(q.number("state", 0, int64(f.stateCount())-1, 0)), q.err
	}
	if !q.given("location") || !q.given("time") {
		q.refuse("state", "give a wait state: state, or location and time")
	}
	location := int(q.number("location", 0, int64(len(v.tl.Locations))-1, 0))
	at := v.tl.Start + unit.Duration(q.number("time", 0, int64(v.length()), 0))
	if q.err != nil {
		return 0, q.err
	}
	found := -1
	f.spans.each(location, at, at+1, func(_, _ unit.Duration, state int) { found = state })
	if found < 0 {
		return 0, notFound("there is no wait at that location and time")
	}
	return found, nil
}

// longestWay is how many wait states are followed, at most.
const longestWay = 1000

// chain follows the largest causes of a wait state back to their origin.
func (v *view) chain(f *findings, number int) []Step {
	var steps []Step
	for range longestWay {
		s := f.result.State(number)
		_, from, to := f.result.SpanOf(number)
		steps = append(steps, Step{
			Kind: "wait", Location: v.locationOf(s.Rank, s.Thread), Rank: s.Rank, Path: int(s.Path),
			From: v.since(from), To: v.since(to), Amount: int64(s.Amount), State: number, Title: s.Metric.Info().Title,
		})
		b := f.result.Blame(number)
		if b.Kind == waits.Waited {
			number = b.State
			continue
		}
		last := Step{
			Kind: "work", Location: int(b.Location), Rank: v.tl.Locations[b.Location].Rank, Path: int(b.Path),
			From: v.since(b.From), To: v.since(b.To), Amount: int64(b.Share), State: -1,
		}
		if b.Kind == waits.Unknown {
			last.Kind = "unknown"
		} else if at, from, to, ok := v.longestCallNear(int(b.Location), b.Path, b.From, b.To); ok {
			last.Location, last.From, last.To = at, v.since(from), v.since(to)
		}
		if last.From >= last.To { // it came late without having done anything: show it at the time of the wait
			last.From, last.To = v.since(from), v.since(to)
		}
		return append(steps, last)
	}
	return steps
}

// longestCallNear is longestCall at a location or, in runs with streams, at any one of its rank: what a process did before an operation
// may have been on several of them.
func (v *view) longestCallNear(location int, path int32, begin, end unit.Duration) (at int, from, to unit.Duration, ok bool) {
	from, to, ok = v.longestCall(location, path, begin, end)
	if v.run.Devices == nil {
		return location, from, to, ok
	}
	at = location
	for i := range v.tl.Locations {
		if i == location || v.tl.Locations[i].Rank != v.tl.Locations[location].Rank {
			continue
		}
		if f, t, found := v.longestCall(i, path, begin, end); found && (!ok || t-f > to-from) {
			at, from, to, ok = i, f, t, true
		}
	}
	return at, from, to, ok
}

// mostSearched is how many calls are searched for the one to show.
const mostSearched = 1 << 20

// longestCall finds the longest call of a call path in a window, as far as it lies there.
func (v *view) longestCall(location int, path int32, begin, end unit.Duration) (from, to unit.Duration, ok bool) {
	c := &v.tl.Locations[location].Calls
	n := int32(c.Len())
	consider := func(i int32) {
		f, t := max(c.Enter[i], begin), min(c.Leave[i], end)
		if v.paths.Of[c.Path[i]] == path && t > f && t-f > to-from {
			from, to, ok = f, t, true
		}
	}
	for _, i := range slices.Backward(v.openAt(location, begin)) {
		consider(i)
	}
	first := firstAfter(c, begin)
	for i := first; i < n && c.Enter[i] < end && i-first < mostSearched; i++ {
		consider(i)
	}
	return from, to, ok
}

// neighbor is the next or previous wait state of the same kind at the same location.
func (v *view) neighbor(f *findings, number, step int) *StateRef {
	metric, _, _ := f.result.SpanOf(number)
	s := f.result.State(number)
	location := v.locationOf(s.Rank, s.Thread)
	first, end := f.result.StatesOf(int32(location))
	for i := number + step; i >= first && i < end; i += step {
		if m, from, to := f.result.SpanOf(i); m == metric && from < to {
			return &StateRef{State: i, Location: location, At: v.since(from), Amount: int64(f.waited(i, from, to))}
		}
	}
	return nil
}

// explanation turns an explanation into an answer.
func explanation(e *waits.Explanation) *Explanation {
	x := &Explanation{Metric: e.Metric.String(), Rank: e.Rank, Path: int(e.Path), Count: e.Count, Amount: ps(e.Amount), Causes: []Cause{}}
	for i := range e.Causes {
		c := &e.Causes[i]
		cause := Cause{Kind: c.Kind.String(), Rank: c.Rank, Path: int(c.Path), Share: ps(c.Share)}
		if c.Kind == waits.Waited {
			cause.Metric = c.Metric.String()
		}
		if c.Because != nil {
			cause.Because = explanation(c.Because)
		}
		x.Causes = append(x.Causes, cause)
	}
	return x
}
