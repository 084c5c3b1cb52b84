package explore

import (
	"sort"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// eachSegment goes through what a location does between two moments, from first to last: emit is called for pieces
// of time with the innermost call that is open then, -1 if there is none. Pieces are not empty and leave no gap.
func (v *view) eachSegment(location int, from, to unit.Duration, emit func(from, to unit.Duration, call int32)) {
	c := &v.tl.Locations[location].Calls
	n := int32(c.Len())
	open := v.windows.Innermost(int32(location), from, n)
	at := from
	advance := func(t unit.Duration) {
		if t = min(t, to); t > at {
			emit(at, t, open)
			at = t
		}
	}
	for i := firstAfter(c, from); i < n && c.Enter[i] < to; i++ {
		for open >= 0 && c.Skip[open] <= i {
			advance(c.Leave[open])
			open = v.windows.Caller(int32(location), open)
		}
		advance(c.Enter[i])
		open = i
	}
	for open >= 0 && at < to {
		advance(c.Leave[open])
		open = v.windows.Caller(int32(location), open)
	}
	advance(to)
}

// firstAfter is the first call that begins after t.
func firstAfter(c *timeline.Calls, t unit.Duration) int32 {
	return int32(sort.Search(c.Len(), func(i int) bool { return c.Enter[i] > t }))
}
