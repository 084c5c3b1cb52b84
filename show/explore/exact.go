package explore

import (
	"cmp"
	"context"
	"slices"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// answerLocations names rows.
func answerLocations(_ context.Context, v *view, q *query) (any, error) {
	r := q.rows(v)
	list := &Locations{First: r.first, Locations: []Location{}, Cut: r.last-r.first > MaxList}
	for i := r.first; i < min(r.last, r.first+MaxList); i++ {
		l := &v.tl.Locations[r.at(i)]
		list.Locations = append(list.Locations, Location{
			Location: r.at(i), Rank: l.Rank, Thread: l.Thread, Name: l.Name, Host: l.Host,
			First: v.since(l.First), Last: v.since(l.Last), Calls: l.Calls.Len(),
		})
		if s := v.streamOf(r.at(i)); s != nil {
			at := &list.Locations[len(list.Locations)-1]
			at.Thread, at.Stream, at.Device = -1, true, s.Device
		}
	}
	return list, nil
}

// few refuses more locations than can be listed in detail.
func (q *query) few(first, last int) {
	if last-first > MaxExact {
		q.refuse("last", "%d locations are too many for details; ask for at most %d", last-first, MaxExact)
	}
}

// answerCalls lists single calls.
func answerCalls(ctx context.Context, v *view, q *query) (any, error) {
	from, to := q.span(v.length())
	r := q.rows(v)
	if q.given("location") {
		at := int(q.number("location", 0, int64(len(v.tl.Locations))-1, 0))
		r = rows{first: 0, last: 1, list: []int{at}}
	}
	limit := q.limit(2000)
	q.few(r.first, r.last)
	if q.err != nil {
		return nil, q.err
	}
	list := &Calls{From: int64(from), To: int64(to), Locations: []LocationCalls{}}
	left := limit
	for row := r.first; row < r.last; row++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		i := r.at(row)
		calls, all := v.callsOf(i, v.tl.Start+from, v.tl.Start+to, left)
		for k := range calls {
			if err := v.describeLaunch(i, &calls[k]); err != nil {
				return nil, err
			}
		}
		left -= len(calls)
		list.Cut = list.Cut || !all
		list.Locations = append(list.Locations, LocationCalls{Location: i, Calls: calls})
	}
	return list, nil
}

// callsOf lists the calls of a location that are open between two times, and reports whether these are all.
func (v *view) callsOf(location int, from, to unit.Duration, limit int) (calls []Call, all bool) {
	l := &v.tl.Locations[location]
	c := &l.Calls
	n := int32(c.Len())
	open := v.openAt(location, from)
	calls = []Call{}
	add := func(i int32, depth int) bool {
		if len(calls) == limit {
			return false
		}
		call := Call{
			Index: int(i), Path: int(v.paths.Of[c.Path[i]]), Depth: depth, Enter: v.since(c.Enter[i]), Leave: v.since(c.Leave[i]),
		}
		if at, found := slices.BinarySearchFunc(l.Polls, i, comparePoll); found {
			call.Polls = l.Polls[at].Count
		}
		calls = append(calls, call)
		return true
	}
	for depth, i := range open {
		if !add(i, depth) {
			return calls, false
		}
	}
	for i := firstAfter(c, from); i < n && c.Enter[i] < to; i++ {
		for len(open) > 0 && c.Skip[open[len(open)-1]] <= i {
			open = open[:len(open)-1]
		}
		if !add(i, len(open)) {
			return calls, false
		}
		open = append(open, i)
	}
	return calls, true
}

// openAt are the calls of a location that are open at a moment, the innermost last.
func (v *view) openAt(location int, at unit.Duration) (open []int32) {
	n := int32(v.tl.Locations[location].Calls.Len())
	for i := v.windows.Innermost(int32(location), at, n); i >= 0; i = v.windows.Caller(int32(location), i) {
		open = append(open, i)
	}
	slices.Reverse(open)
	return open
}

func comparePoll(p timeline.Poll, call int32) int { return cmp.Compare(p.Call, call) }
