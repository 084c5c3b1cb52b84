package report

import (
	"cmp"
	"context"
	"slices"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// analysed is a run with what its own analyses found. Times are those of the part that the report analyzes.
type analysed struct {
	run         *Run
	timeline    *timeline.Timeline // the part
	cut         bool               // start and end of MPI are left out
	begin, end  unit.Duration      // the part, since the start of the run
	words       []string           // what commands that look at the same part take
	waits       *waits.Result
	profile     *profile.Profile
	composition *profile.Composition
	efficiency  *profile.Efficiency
	iterations  *profile.Iterations
	critical    *waits.CriticalPath
}

// analyseRun finds the wait states of a run, or of the part that matters.
func analyseRun(ctx context.Context, r *Run, all bool, threads int) (*analysed, error) {
	a := &analysed{run: r, timeline: r.Timeline, words: r.Words}
	a.choosePart(all, threads)
	var err error
	if a.waits, err = waits.Analyze(ctx, a.timeline, waits.Options{Threads: threads}); err != nil {
		return nil, err
	}
	a.profile = a.waits.Profile()
	waiting := a.waits.WaitTimes()
	a.composition = a.profile.Composition(waiting)
	a.efficiency = a.profile.Efficiency(0, waiting)
	a.critical = a.waits.CriticalPath()
	if a.iterations = a.profile.Iterations(); a.iterations != nil {
		a.waits.EachState(func(s *waits.State) {
			if s.Thread == 0 {
				a.iterations.AddWait(s.Rank, s.At, s.Amount)
			}
		})
	}
	return a, nil
}

// choosePart leaves out the start and the end of MPI, which do not matter in a program that runs for long: the part goes
// from where the last rank leaves MPI_Init to where the first one enters MPI_Finalize.
func (a *analysed) choosePart(all bool, threads int) {
	tl := a.run.Timeline
	a.begin, a.end = 0, tl.End-tl.Start
	switch {
	case a.run.Begin != 0 || a.run.End != 0:
		a.begin = a.run.Begin
		if a.run.End != 0 {
			a.end = min(a.end, a.run.End)
		}
	case all || tl.Simulated:
		return
	default:
		begin, end, ok := insideMPI(tl)
		if !ok {
			return
		}
		// Commands name whole nanoseconds.
		a.begin, a.end, a.cut = up(begin-tl.Start), (end-tl.Start)/unit.Nanosecond*unit.Nanosecond, true
	}
	a.timeline = tl.Window(tl.Start+a.begin, tl.Start+a.end, threads)
	a.words = append(slices.Clone(a.words), "--begin", a.begin.String(), "--end", a.end.String())
}

// up rounds up to whole nanoseconds.
func up(d unit.Duration) unit.Duration {
	return (d + unit.Nanosecond - 1) / unit.Nanosecond * unit.Nanosecond
}

// insideMPI is the time in which all ranks are between MPI_Init and MPI_Finalize; not ok if a rank has none of them or
// if nothing is between.
func insideMPI(tl *timeline.Timeline) (begin, end unit.Duration, ok bool) {
	begin, end = tl.Start, tl.End
	for i := range tl.Locations {
		l := &tl.Locations[i]
		if l.Thread != 0 {
			continue
		}
		started, ended := false, false
		for k := range l.Calls.Len() {
			switch tl.Regions[tl.Paths[l.Calls.Path[k]].Region].Name {
			case "MPI_Init", "MPI_Init_thread":
				begin, started = max(begin, l.Calls.Leave[k]), true
			case "MPI_Finalize":
				end, ended = min(end, l.Calls.Enter[k]), true
			}
		}
		if !started || !ended {
			return 0, 0, false
		}
	}
	return begin, end, begin < end
}

// name is the name of a call path.
func (a *analysed) name(path int32) string { return a.waits.Paths.Names[path] }

// runTime is how long the part took.
func (a *analysed) runTime() unit.Duration { return a.timeline.End - a.timeline.Start }

// cause is a call path that made others wait, over all ranks.
type cause struct {
	path  int32
	cost  waits.Cost
	ranks int
	worst int // rank that did most of it
	most  unit.Duration
}

// causes are what made others wait, the costliest first.
func (a *analysed) causes() []cause {
	index := map[int32]int{}
	var all []cause
	for i := range a.waits.Delays {
		d := &a.waits.Delays[i]
		k, known := index[d.Path]
		if !known {
			k = len(all)
			index[d.Path] = k
			all = append(all, cause{path: d.Path})
		}
		c := &all[k]
		c.cost.Short += d.Short
		c.cost.Long += d.Long
		c.ranks++
		if d.Sum() > c.most {
			c.worst, c.most = d.Rank, d.Sum()
		}
	}
	slices.SortStableFunc(all, func(x, y cause) int {
		return cmp.Or(cmp.Compare(y.cost.Sum(), x.cost.Sum()), cmp.Compare(x.path, y.path))
	})
	return all
}

// waited is the waiting time of a kind in a call path, over all ranks.
type waited struct {
	metric waits.Metric
	path   int32
	waits.Split
	ranks int
	worst int
	most  unit.Duration
}

// waited are the waiting times by kind and call path, the longest first.
func (a *analysed) waited() []waited {
	type key struct {
		metric waits.Metric
		path   int32
	}
	index := map[key]int{}
	var all []waited
	for i := range a.waits.Waits {
		w := &a.waits.Waits[i]
		if w.Metric == waits.WrongOrder {
			continue
		}
		k, known := index[key{w.Metric, w.Path}]
		if !known {
			k = len(all)
			index[key{w.Metric, w.Path}] = k
			all = append(all, waited{metric: w.Metric, path: w.Path})
		}
		s := &all[k]
		s.Amount += w.Amount
		s.Direct += w.Direct
		s.Indirect += w.Indirect
		s.ranks++
		if w.Amount > s.most {
			s.worst, s.most = w.Rank, w.Amount
		}
	}
	slices.SortStableFunc(all, func(x, y waited) int { return cmp.Compare(y.Amount, x.Amount) })
	return all
}

// largest are the waits of a rank and call path, the longest first.
func (a *analysed) largest(n int) []*waits.Wait {
	var all []*waits.Wait
	for i := range a.waits.Waits {
		if a.waits.Waits[i].Metric != waits.WrongOrder {
			all = append(all, &a.waits.Waits[i])
		}
	}
	slices.SortStableFunc(all, func(x, y *waits.Wait) int { return cmp.Compare(y.Amount, x.Amount) })
	return all[:min(n, len(all))]
}

// total is the time of all threads.
func (a *analysed) total() unit.Duration {
	_, lifetime := a.timeline.WithoutCPU()
	return lifetime
}
