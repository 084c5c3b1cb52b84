package explore

import (
	"sort"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// idleSpan is a time in which a worker thread is idle, and where that comes from.
type idleSpan struct {
	timeline.Span
	origin waits.Origin
}

// findIdle lists when each location is idle.
func (v *view) findIdle(f *findings) [][]idleSpan {
	list := make([][]idleSpan, len(v.tl.Locations))
	sums := profile.NewSums(v.paths)
	f.result.EachIdle(func(master int32, from, to unit.Duration, workers []int32) {
		span := idleSpan{timeline.Span{From: from, To: to}, v.idleOrigin(f, sums, master, from, to)}
		for _, w := range workers {
			list[w] = append(list[w], span)
		}
	})
	return list
}

// idleOrigin is what threads are idle for: that of the wait state that their master spends most of the time in, or else its longest call
// path.
func (v *view) idleOrigin(f *findings, sums *profile.Sums, master int32, from, to unit.Duration) waits.Origin {
	origin, longest := waits.Origin{Rank: int32(v.tl.Locations[master].Rank)}, unit.Duration(0)
	waited := unit.Duration(0)
	f.spans.each(int(master), from, to, func(begin, end unit.Duration, state int) {
		if d := end - begin; d > waited {
			waited, origin = d, f.origins[state]
		}
	})
	if 2*waited >= to-from {
		return origin
	}
	sums.Clear()
	f.result.Windows().Add(sums, master, from, to, int32(firstFrom(v.tl.Locations[master].Calls.Enter, to)))
	for _, path := range sums.Touched {
		if d := sums.First(path); d > longest && (d > waited || !v.isMPI(path)) {
			longest, origin = d, waits.Origin{Rank: int32(v.tl.Locations[master].Rank), Path: path}
		}
	}
	return origin
}

// isMPI reports whether a call path ends in a call of MPI.
func (v *view) isMPI(path int32) bool {
	class, _ := classOf(v.kindOfPath(int(path)))
	return class == "communication"
}

// eachIdle calls visit for the idle times of a location in a window, each with its part of the window.
func (f *findings) eachIdle(location int, from, to unit.Duration, visit func(from, to unit.Duration, i int)) {
	list := f.idle[location]
	for i := sort.Search(len(list), func(i int) bool { return list[i].To > from }); i < len(list) && list[i].From < to; i++ {
		visit(max(list[i].From, from), min(list[i].To, to), i)
	}
}
