package waits

import (
	"cmp"
	"slices"

	"slackline/model/unit"
)

// ThreadWait is the waiting time of a metric and call path on one thread of a rank.
type ThreadWait struct {
	Thread int
	Wait
}

// ThreadWaits returns the waiting times of all threads, by name of the metric, rank, thread, call path.
func (r *Result) ThreadWaits() []ThreadWait {
	if r.a.part == nil {
		return r.threadWaits()
	}
	if r.byThread == nil { // no rank has two
		for i := range r.Waits {
			w := &r.Waits[i]
			r.byThread = append(r.byThread, ThreadWait{r.a.tl.Locations[r.a.masters[w.Rank]].Thread, *w})
		}
	}
	return r.byThread
}

// hasThreads reports whether a rank has more than one location.
func (a *analysis) hasThreads() bool {
	for i := 1; i < len(a.tl.Locations); i++ {
		if a.tl.Locations[i].Rank == a.tl.Locations[i-1].Rank {
			return true
		}
	}
	return false
}

// threadWaits sums up the waits of the threads that are here.
func (r *Result) threadWaits() []ThreadWait {
	a := r.a
	parts := a.waitsByLocation()
	for i := range a.idle {
		p := &a.idle[i]
		for _, worker := range p.who {
			w := get(parts[worker], waitKey{OpenMPIdle, a.rankOf(p.master), p.path})
			w.Count++
			w.add(p.to-p.from, unit.Duration(p.indirect), 0)
		}
	}
	var list []ThreadWait
	for l, part := range parts {
		for _, w := range part {
			list = append(list, ThreadWait{a.tl.Locations[l].Thread, *w})
		}
	}
	slices.SortFunc(list, threadWaitOrder)
	return list
}

func threadWaitOrder(x, y ThreadWait) int {
	return cmp.Or(cmp.Compare(x.Metric.String(), y.Metric.String()), cmp.Compare(x.Rank, y.Rank),
		cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.Path, y.Path))
}
