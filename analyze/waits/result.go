package waits

import (
	"cmp"
	"slices"

	"slackline/analyze/profile"
	"slackline/analyze/waits/ledger"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// waitKey is what waiting times are summed up by.
type waitKey struct {
	metric Metric
	rank   int
	path   int32
	stream int32 // from 1 on; 0: none
}

// result sums up what the passes found.
func (a *analysis) result(acc *account) *Result {
	r := &Result{Timeline: a.run(), Paths: a.paths, Cyclic: acc.cyclic, a: a}
	r.States = a.reported()
	if a.devices != nil {
		r.Devices = a.devices.run.Uses()
	}
	r.Threads = a.threadTimes()
	r.Unanalyzed = a.unanalyzed()
	r.sumWaits()
	r.Totals.Unattributed = acc.unattributed
	for _, c := range a.completions.Sorted() {
		r.Completions = append(r.Completions, CompletionTime{Completion(c.Kind()), c.Place(), c.Short})
	}
	slices.SortStableFunc(r.Completions, func(x, y CompletionTime) int { return cmp.Compare(x.Kind, y.Kind) })
	return r
}

// Time is the time of all that could wait: threads while they were recorded, and devices.
func (r *Result) Time() unit.Sum {
	all := r.Timeline.Lifetimes().Minus(r.Timeline.Unrecorded())
	for i := range r.Devices {
		all.Add(r.Devices[i].Span)
	}
	return all
}

// waitsByLocation sums the wait states of each location up.
func (a *analysis) waitsByLocation() []map[waitKey]*Wait {
	parts := make([]map[waitKey]*Wait, len(a.tl.Locations))
	a.each(len(parts), func(l int) {
		parts[l] = map[waitKey]*Wait{}
		for i := a.first[l]; i < a.first[l+1]; i++ {
			a.states[i].sumUp(a, parts[l])
		}
	})
	return parts
}

// sumWaits sums the wait states up by metric, rank, call path and stream.
func (r *Result) sumWaits() {
	a := r.a
	sums := map[waitKey]*Wait{}
	for _, part := range a.waitsByLocation() {
		for key, w := range part {
			get(sums, key).merge(w)
		}
	}
	for i := range a.idle {
		p := &a.idle[i]
		w := get(sums, waitKey{openMPIdle.metric, a.rankOf(p.master), p.path, 0})
		w.Count += p.workers
		w.add(unit.SumOf(p.to-p.from).Times(p.workers), unit.SumOf(unit.Duration(p.indirect)).Times(p.workers), unit.Sum{})
		r.States += int(p.workers)
	}
	for key, w := range sums {
		if key.stream > 0 {
			w.Stream = a.tl.Locations[a.hosts+int(key.stream)-1].Name
		}
		r.Waits = append(r.Waits, *w)
	}
	slices.SortFunc(r.Waits, waitOrder)
	r.sumTotals()
}

// waitOrder is by name of the metric, rank, call path, stream.
func waitOrder(x, y Wait) int {
	return cmp.Or(cmp.Compare(x.Metric.String(), y.Metric.String()), cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Path, y.Path),
		cmp.Compare(x.Stream, y.Stream))
}

// sumTotals sums the waits up over ranks and call paths.
func (r *Result) sumTotals() {
	for i := range r.Waits {
		w := &r.Waits[i]
		r.Totals.ByMetric[w.Metric].addAll(&w.Split)
		if !w.Metric.IsPart() {
			r.Totals.Waiting.addAll(&w.Split)
			r.Totals.Uncertain.AddSum(w.Uncertain)
		}
	}
}

// sumUp adds a wait state to the sums of its metrics.
func (s *state) sumUp(a *analysis, sums map[waitKey]*Wait) {
	if s.amount == 0 { // it is hidden, and only passes costs on
		return
	}
	key := waitKey{s.metric, a.rankOf(s.location), a.pathOf(s.location, s.call), a.streamOf(s.location) + 1}
	if s.first > 0 {
		first := key
		first.metric = kinds[s.metric].before.metric
		s.addTo(get(sums, first), 0, s.first)
	}
	if s.first < s.amount { // of a kernel, only what is in the first part may count
		s.addTo(get(sums, key), s.first, s.amount)
	}
	if s.sub != None {
		key.metric = s.sub
		s.addTo(get(sums, key), s.amount-s.subPart, s.amount)
	}
}

// addTo adds the part of a wait state from one moment after its start to another. Its classes are divided in proportion.
func (s *state) addTo(w *Wait, from, to unit.Duration) {
	w.Count++
	w.add(unit.SumOf(to-from), s.share(s.indirect, from, to), s.share(s.propagating, from, to))
	if s.uncertain {
		w.Uncertain.Add(to - from)
	}
}

// share is what a part of the wait state has of something, so that the shares of all parts sum up to it.
func (s *state) share(of int64, from, to unit.Duration) unit.Sum {
	all := unit.SumOf(unit.Duration(of))
	return portion(all, to, s.amount).Minus(portion(all, from, s.amount))
}

// portion is of * part / whole, rounded to the next whole number, up from a half: what the first of two parts gets if of is apportioned.
func portion(of unit.Sum, part, whole unit.Duration) unit.Sum {
	quotient, rest := of.Scaled(uint64(part), uint64(whole))
	if rest >= uint64(whole)-rest {
		quotient.Add(1)
	}
	return quotient
}

func (w *Wait) merge(o *Wait) {
	w.Count += o.Count
	w.Uncertain.AddSum(o.Uncertain)
	w.addAll(&o.Split)
}

// get returns the sum of a key, which is new if there was none.
func get(sums map[waitKey]*Wait, key waitKey) *Wait {
	w := sums[key]
	if w == nil {
		w = &Wait{Metric: key.metric, Place: profile.Place{Rank: key.rank, Path: key.path}}
		sums[key] = w
	}
	return w
}

// sumDelays sums the costs up by rank and call path.
func (r *Result) sumDelays(costs *ledger.Table) {
	for _, c := range costs.Sorted() {
		if c.Short.Sign() == 0 && c.Long.Sign() == 0 {
			continue
		}
		n := len(r.Delays)
		if n == 0 || r.Delays[n-1].Place != c.Place() {
			r.Delays = append(r.Delays, Delay{Place: c.Place()})
			n++
		}
		d := &r.Delays[n-1]
		part := Cost{c.Short, c.Long}
		d.ByWait.add(Metric(c.Kind()), part)
		d.Cost.add(part)
		r.Totals.Delay.add(part)
	}
}

// ThreadWait is the waiting time of a metric and call path on one thread of a rank.
type ThreadWait struct {
	Metric   Metric   `json:"metric"`
	Rank     int      `json:"rank"`
	Thread   int      `json:"thread"`
	Path     int32    `json:"-"`
	CallPath string   `json:"callpath"`
	Amount   unit.Sum `json:"seconds"`
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
			w.add(unit.SumOf(p.to-p.from), unit.SumOf(unit.Duration(p.indirect)), unit.Sum{})
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
	Rank    int      `json:"rank"`
	Limited unit.Sum `json:"limited_parallelism_s"` // limited parallelism: time of threads that are not members of the active team
	// of all members: from the fork to the parallel region, and from its end to the join
	Management unit.Sum `json:"management_s"`
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
		for _, w := range a.workersOf(t.Master) {
			if !slices.ContainsFunc(t.Members, func(m timeline.TeamMember) bool { return m.Location == w }) {
				sum.Limited.Add(a.tl.Locations[w].Lived(t.Fork, t.Join))
			}
		}
		for j := range t.Members {
			sum.Management.Add(a.management(t, &t.Members[j]))
		}
	}
	return list
}

// management is the time of a member between fork and join outside of the parallel region.
func (a *analysis) management(t *timeline.Team, m *timeline.TeamMember) unit.Duration {
	c := a.calls(m.Location)
	for call := m.BeginPlace.Next; call < min(m.EndPlace.Next, int32(c.Len())); call++ {
		if r := a.tl.RegionOf(c.Path[call]); r.Paradigm == timeline.OpenMP && r.Role == timeline.Parallel {
			in := a.tl.Locations[m.Location].During(t, m.Begin)
			return max(c.Enter[call]-in.From, 0) + max(in.To-c.Leave[call], 0)
		}
	}
	return 0
}
