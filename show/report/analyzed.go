package report

import (
	"context"
	"slices"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// analyzed is a run with what its own analyses found. Times are those of the part that the report analyzes.
type analyzed struct {
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

// analyzeRun finds the wait states of a run, or of the part that matters.
func analyzeRun(ctx context.Context, r *Run, all bool, threads int) (*analyzed, error) {
	a := &analyzed{run: r, timeline: r.Timeline, words: r.Words}
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
	a.iterations, err = a.waits.Iterations(ctx, a.profile)
	return a, err
}

// choosePart leaves out the start and the end of MPI, which do not matter in a program that runs for long: the part goes
// from where the last rank leaves MPI_Init to where the first one enters MPI_Finalize.
func (a *analyzed) choosePart(all bool, threads int) {
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
func (a *analyzed) name(path int32) string { return a.waits.Paths.Names[path] }

// runTime is how long the part took.
func (a *analyzed) runTime() unit.Duration { return a.timeline.End - a.timeline.Start }

// total is the time of all threads.
func (a *analyzed) total() unit.Duration {
	_, lifetime := a.timeline.WithoutCPU()
	return lifetime
}
