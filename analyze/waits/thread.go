package waits

import (
	"cmp"
	"slices"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// ThreadWait is the waiting time of a metric and call path on one thread of a rank.
type ThreadWait struct {
	Metric   Metric        `json:"metric"`
	Rank     int           `json:"rank"`
	Thread   int           `json:"thread"`
	Path     int32         `json:"-"`
	CallPath string        `json:"callpath"`
	Amount   unit.Duration `json:"seconds"`
}

// ThreadWaits returns the waiting times of all threads, by name of the metric, rank, thread, call path.
func (r *Result) ThreadWaits() []ThreadWait {
	if r.a.part == nil {
		r.byThread = r.threadWaits()
	} else if r.byThread == nil { // no rank has two
		for i := range r.Waits {
			w := &r.Waits[i]
			r.byThread = append(r.byThread, w.ofThread(&r.a.tl.Locations[r.a.masters[w.Rank]]))
		}
	}
	for i := range r.byThread {
		r.byThread[i].CallPath = r.Paths.Names[r.byThread[i].Path]
	}
	return r.byThread
}

// ofThread is the waiting time of the thread of a location.
func (w *Wait) ofThread(l *timeline.Location) ThreadWait {
	return ThreadWait{Metric: w.Metric, Rank: w.Rank, Thread: l.Thread, Path: w.Path, Amount: w.Amount}
}

// hasThreads reports whether a rank has more than one location.
func (a *analysis) hasThreads() bool {
	for i := 1; i < a.hosts; i++ {
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
			w := get(parts[worker], waitKey{openMPIdle.metric, a.rankOf(p.master), p.path, 0})
			w.Count++
			w.add(p.to-p.from, unit.Duration(p.indirect), 0)
		}
	}
	var list []ThreadWait
	for l, part := range parts[:a.hosts] {
		for _, w := range part {
			list = append(list, w.ofThread(&a.tl.Locations[l]))
		}
	}
	slices.SortFunc(list, threadWaitOrder)
	return list
}

func threadWaitOrder(x, y ThreadWait) int {
	return cmp.Or(cmp.Compare(x.Metric.String(), y.Metric.String()), cmp.Compare(x.Rank, y.Rank),
		cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.Path, y.Path))
}

// ThreadTime is what a process loses to its threads beside wait states.
type ThreadTime struct {
	Rank       int           `json:"rank"`
	Limited    unit.Duration `json:"limited_parallelism_s"` // limited parallelism: time of threads that are not members of the active team
	Management unit.Duration `json:"management_s"`          // of all members: from the fork to the parallel region, and from its end to the join
}

// threadTimes measures the teams of all ranks.
func (a *analysis) threadTimes() []ThreadTime {
	var list []ThreadTime
	for i := range a.tl.Teams {
		t := &a.tl.Teams[i]
		rank := a.rankOf(t.Master)
		if n := len(list); n == 0 || list[n-1].Rank != rank {
			list = append(list, ThreadTime{Rank: rank})
		}
		sum := &list[len(list)-1]
		a.aliveIn(a.workersOf(t.Master), t.Fork, t.Join, func(from, to unit.Duration, alive []int32) {
			sum.Limited += unit.Duration(max(1+len(alive)-len(t.Members), 0)) * (to - from)
		})
		for j := range t.Members {
			sum.Management += a.management(t, &t.Members[j])
		}
	}
	return list
}

// management is the time of a member between fork and join outside of the parallel region.
func (a *analysis) management(t *timeline.Team, m *timeline.TeamMember) unit.Duration {
	c := a.calls(m.Location)
	for call := m.BeginPlace.Next; call < min(m.EndPlace.Next, int32(c.Len())); call++ {
		if r := a.tl.RegionOf(c.Path[call]); r.Paradigm == timeline.OpenMP && r.Role == timeline.Parallel {
			return max(c.Enter[call]-t.Fork, 0) + max(t.Join-c.Leave[call], 0)
		}
	}
	return 0
}
