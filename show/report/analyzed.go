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
	begin, end  unit.Duration      // the part that was asked for, since the start of the run
	words       []string           // what commands that look at the same part take
	waits       *waits.Result
	profile     *profile.Profile
	composition *profile.Composition
	efficiency  *profile.Efficiency
	counts      *profile.Counts // nil: nothing was counted
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
	a.counts = a.profile.Counts(waiting)
	a.critical = a.waits.CriticalPath()
	a.iterations, err = a.waits.Iterations(ctx, a.profile)
	return a, err
}

// choosePart leaves out the start and the end of MPI, as all verbs that look at a run do.
func (a *analyzed) choosePart(all bool, threads int) {
	tl := a.run.Timeline
	if a.run.Begin == 0 && a.run.End == 0 {
		if all {
			a.words = append(slices.Clone(a.words), "--whole")
		} else {
			a.timeline = tl.Core(threads, false)
		}
		return
	}
	a.begin, a.end = a.run.Begin, tl.End-tl.Origin()
	if a.run.End != 0 {
		a.end = min(a.end, a.run.End)
	}
	a.timeline = tl.Window(tl.Origin()+a.begin, tl.Origin()+a.end, threads)
	a.words = append(slices.Clone(a.words), "--begin", a.begin.String(), "--end", a.end.String())
}

// name is the name of a call path.
func (a *analyzed) name(path int32) string { return a.waits.Paths.Names[path] }

// runTime is how long the part took.
func (a *analyzed) runTime() unit.Duration { return a.timeline.End - a.timeline.Start }

// devices are words for the accelerators of the ranks, if they have any.
func (a *analyzed) devices() string {
	if len(a.waits.Devices) == 0 {
		return ""
	}
	return " and their devices"
}
