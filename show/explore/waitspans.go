package explore

import (
	"context"
	"sort"

	"slackline/analyze/waits"
	"slackline/internal/parallel"
	"slackline/model/unit"
)

// waitSpans finds the wait states of a location in a window. Where they overlap, as those of calls inside of each other
// may, the one that began first has the time.
type waitSpans struct {
	result *waits.Result
	// latest has, for locations whose wait states do not end in the order of their beginnings, the latest end up to
	// each of them; nil for the others.
	latest [][]unit.Duration
}

func newWaitSpans(r *waits.Result, locations, threads int) *waitSpans {
	w := &waitSpans{result: r, latest: make([][]unit.Duration, locations)}
	parallel.Each(len(w.latest), threads, func(location int) { w.latest[location] = latestEnds(r, int32(location)) })
	return w
}

func latestEnds(r *waits.Result, location int32) []unit.Duration {
	first, end := r.StatesOf(location)
	ordered, last := true, unit.Duration(0)
	for i := first; i < end; i++ {
		_, _, to := r.SpanOf(i)
		ordered = ordered && (i == first || to >= last)
		last = to
	}
	if ordered {
		return nil
	}
	list := make([]unit.Duration, 0, end-first)
	for i := first; i < end; i++ {
		_, _, to := r.SpanOf(i)
		if n := len(list); n > 0 {
			to = max(to, list[n-1])
		}
		list = append(list, to)
	}
	return list
}

// endUpTo is when the wait states of a location up to a number have ended.
func (w *waitSpans) endUpTo(location, state int) unit.Duration {
	if latest := w.latest[location]; latest != nil {
		first, _ := w.result.StatesOf(int32(location))
		return latest[state-first]
	}
	_, _, to := w.result.SpanOf(state)
	return to
}

// firstIn is the number of the first wait state of a location that may last beyond a moment, and when all before it had
// ended.
func (w *waitSpans) firstIn(location int, from unit.Duration) (state int, ended unit.Duration) {
	first, end := w.result.StatesOf(int32(location))
	state = first + sort.Search(end-first, func(i int) bool { return w.endUpTo(location, first+i) > from })
	if state > first {
		ended = w.endUpTo(location, state-1)
	} else {
		ended = w.result.Timeline.Start
	}
	return state, ended
}

// each calls visit for the wait states of a location in a window, by time, each with its part of the window.
func (w *waitSpans) each(location int, from, to unit.Duration, visit func(from, to unit.Duration, state int)) {
	state, ended := w.firstIn(location, from)
	_, end := w.result.StatesOf(int32(location))
	at := max(from, ended)
	part := func(begin, until unit.Duration) {
		begin, until = max(begin, at), min(until, to)
		if begin < until {
			visit(begin, until, state)
			at = until
		}
	}
	for ; state < end && at < to; state++ {
		_, begin, until := w.result.SpanOf(state)
		if begin >= to {
			return
		}
		spans := w.result.SpansOf(state)
		if len(spans) == 0 {
			part(begin, until)
		}
		for _, s := range spans {
			part(s.From, s.To)
		}
	}
}

// waited is how much of a wait state lies between two moments.
func (f *findings) waited(state int, from, to unit.Duration) unit.Duration {
	spans := f.result.SpansOf(state)
	if len(spans) == 0 {
		_, begin, end := f.result.SpanOf(state)
		return max(min(end, to)-max(begin, from), 0)
	}
	sum := unit.Duration(0)
	for _, s := range spans {
		sum += max(min(s.To, to)-max(s.From, from), 0)
	}
	return sum
}

// colorByWait colors by kind of activity, wait states by the function waiting, and idle threads by idle.
func (v *view) colorByWait(ctx context.Context, f *findings, waiting func(state int) uint16, idle func(*idleSpan) uint16) (*coloring,
	error) {
	c := &coloring{v: v, categories: noCause + 1, shades: v.kinds.shades, waits: f.spans, waiting: waiting, findings: f, idle: idle}
	var err error
	c.index, err = buildIndex[uint8](ctx, c)
	return c, err
}
