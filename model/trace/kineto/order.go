package kineto

import (
	"cmp"
	"slices"
	"sort"

	"slackline/model/timeline"
	"slackline/model/trace/device"
)

// sortCalls puts the calls of each thread in order: by begin, then end, the later one first, then place in the file. It finds the calls
// of the correlations.
func (r *rankBuilder) sortCalls() {
	n := r.calls.len()
	r.from = make([]int, len(r.order)+1)
	for _, c := range r.calls.all {
		r.from[r.places[c.thread]+1]++
	}
	for n := range r.order {
		r.from[n+1] += r.from[n]
	}
	r.sorted = make([]int32, n)
	spare := make([]int32, n)
	next := slices.Clone(r.from)
	for i, c := range r.calls.all {
		at := &next[r.places[c.thread]]
		r.sorted[*at] = i
		*at++
	}
	for n := range r.order {
		r.mergeRuns(r.sorted[r.from[n]:r.from[n+1]], spare)
	}
	for i, number := range r.sorted {
		spare[number] = int32(i)
	}
	r.findLaunches(spare)
}

// mergeRuns sorts calls of a thread that are in the order of the file: mostly some long runs that are in order already.
func (r *rankBuilder) mergeRuns(calls, spare []int32) {
	var starts []int
	var last *hostCall
	for i, number := range calls {
		c := r.calls.at(number)
		if last == nil || comesBefore(c, last) {
			starts = append(starts, i)
		}
		last = c
	}
	for len(starts) > 1 {
		merged := starts[:0]
		for i := 0; i < len(starts); i += 2 {
			from := starts[i]
			if i+1 < len(starts) {
				to := len(calls)
				if i+2 < len(starts) {
					to = starts[i+2]
				}
				r.merge(calls[from:to], starts[i+1]-from, spare)
			}
			merged = append(merged, from)
		}
		starts = merged
	}
}

// merge merges two runs, the first of which has so many calls.
func (r *rankBuilder) merge(calls []int32, count int, spare []int32) {
	second := calls[count:]
	skip := sort.Search(count, func(i int) bool { return comesBefore(r.calls.at(second[0]), r.calls.at(calls[i])) })
	first := spare[:copy(spare, calls[skip:count])]
	for to := calls[skip:]; len(first) > 0; to = to[1:] { // then the rest of the second is in its place
		if len(second) > 0 && comesBefore(r.calls.at(second[0]), r.calls.at(first[0])) {
			to[0], second = second[0], second[1:]
		} else {
			to[0], first = first[0], first[1:]
		}
	}
}

// comesBefore reports whether x is before y, wherever they are in the file.
func comesBefore(x, y *hostCall) bool {
	return x.begin < y.begin || x.begin == y.begin && x.end > y.end
}

// findLaunches finds the calls by their correlation, the first in the file if there are several. places are those of the calls of the
// file among the sorted ones.
func (r *rankBuilder) findLaunches(places []int32) {
	r.launches = make([]launchedBy, 0, r.correlated.len())
	inOrder := true
	for _, c := range r.correlated.all {
		n := len(r.launches)
		if n > 0 && r.launches[n-1].correlation >= c.correlation {
			inOrder = false
		}
		r.launches = append(r.launches, launchedBy(*c))
	}
	if !inOrder {
		slices.SortFunc(r.launches, func(x, y launchedBy) int {
			return cmp.Or(cmp.Compare(x.correlation, y.correlation), cmp.Compare(x.call, y.call))
		})
		r.launches = slices.CompactFunc(r.launches, func(x, y launchedBy) bool { return x.correlation == y.correlation })
	}
	for i := range r.launches {
		r.launches[i].call = places[r.launches[i].call]
	}
}

// launchOf is the call with a correlation. Activities that follow each other were mostly launched by calls that do.
func (r *rankBuilder) launchOf(correlation uint32) timeline.Launch {
	if correlation == 0 {
		return timeline.NoLaunch
	}
	for i := r.found; i < min(r.found+4, len(r.launches)); i++ {
		if r.launches[i].correlation == correlation {
			r.found = i
			return r.callAt(r.launches[i].call)
		}
	}
	i, ok := slices.BinarySearchFunc(r.launches, correlation, func(l launchedBy, c uint32) int { return cmp.Compare(l.correlation, c) })
	if !ok {
		return timeline.NoLaunch
	}
	r.found = i
	return r.callAt(r.launches[i].call)
}

// communicates reports whether an activity carries out communication.
func (r *rankBuilder) communicates(a *activity) bool {
	return a.kind == kindKernel && (a.args >= 0 || device.IsCommunication(r.names[a.name]))
}
