package explore

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"slackline/analyze/compare"
	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/fault"
)

// analysis is what is found out about a run in the background, while people look at it.
type analysis struct {
	start sync.Once
	done  chan struct{} // closed when it has ended
	found *findings
	err   error
}

// findings are what was found out.
type findings struct {
	result      *waits.Result
	profile     *profile.Profile
	waiting     []profile.WaitTime
	critical    *waits.CriticalPath
	composition *profile.Composition
	efficiency  *profile.Efficiency
	iterations  *profile.Iterations
	ranked      []waits.Delay  // by cost, the costliest first
	origins     []waits.Origin // by wait state
	causes      map[waits.Origin]int
	spans       *waitSpans
	selection   lazy[*selectionIndex]
	idle        [][]idleSpan // by location

	originNumber map[waits.Origin]int32 // of the origins that occur
	originList   []waits.Origin         // by number
	byWait       *coloring
	byCause      *coloring

	// What is made when it is first asked for:
	largest    func() []waits.State
	clusters   func() *Clusters
	numbers    func() compare.Run
	tree       func() *Tree
	waitedOnce sync.Once
	longest    []weighed // messages that the largest wait states waited for
}

// The states of an analysis.
const (
	analysisRunning = "running"
	analysisReady   = "ready"
	analysisFailed  = "failed"
)

// analysisState is how far the analysis is.
func (v *view) analysisState() (state, problem string) {
	if v.tl == nil {
		return analysisReady, ""
	}
	select {
	case <-v.analysis.done:
		if v.analysis.err != nil {
			return analysisFailed, v.analysis.err.Error()
		}
		return analysisReady, ""
	default:
		return analysisRunning, ""
	}
}

// startAnalysis begins the analysis, once.
func (v *view) startAnalysis() {
	if v.tl == nil {
		return
	}
	v.analysis.start.Do(func() {
		fault.Go(func() {
			v.analysis.found, v.analysis.err = v.analyze(v.context)
			close(v.analysis.done)
			if v.analysis.err == nil {
				v.prepare(v.analysis.found)
			}
			debug.FreeOSMemory() // from now on nothing is read and little is made
		})
	})
}

// defaultPatience is how long a request waits for the analysis.
const defaultPatience = 20 * time.Second

// analyzed returns what the analysis found. It waits for it a while.
func (v *view) analyzed(ctx context.Context) (*findings, error) {
	if v.tl == nil {
		return nil, errNoRun
	}
	v.startAnalysis()
	late := time.NewTimer(v.patience)
	defer late.Stop()
	select {
	case <-v.analysis.done:
		if v.analysis.err != nil && v.context.Err() != nil {
			return nil, notReady("the run was read again; ask again")
		}
		return v.analysis.found, v.analysis.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		return nil, notReady("the run is still being analyzed; try again in a moment")
	}
}

// analyze finds out who waits and why, and what else takes longer than reading.
func (v *view) analyze(ctx context.Context) (_ *findings, err error) {
	defer fault.Catch(&err)
	say, end := v.works.begin(workAnalysis)
	defer end()
	const states = "wait states and their causes"
	say(states, 0)
	result, err := waits.Analyze(ctx, v.run, waits.Options{
		Threads: v.threads, Paths: v.paths, Windows: v.windows, Progress: func(done float64) { say(states, done/2) },
	})
	if err != nil {
		return nil, err
	}
	if !result.Time().Fits() || !result.Totals.Waiting.Amount.Fits() {
		return nil, errTooLong
	}
	f := &findings{result: result, ranked: result.RankedDelays(), causes: map[waits.Origin]int{}}
	for i, d := range f.ranked[:min(len(f.ranked), mostCauses)] {
		f.causes[waits.Origin{Rank: int32(d.Rank), Path: d.Path}] = firstWait + i
	}
	say("where each wait began", 0.5)
	if f.origins, err = result.Origins(ctx); err != nil {
		return nil, err
	}
	f.spans = newWaitSpans(result, len(v.tl.Locations), v.threads)
	f.idle = v.findIdle(f)
	f.originNumber, f.originList = f.numberOrigins()
	say("the timeline by wait state", 0.7)
	if f.byWait, err = v.colorByWait(ctx, f, f.waitCategory, func(*idleSpan) uint16 { return firstWait + uint16(idleThreads) }); err != nil {
		return nil, err
	}
	say("the timeline by root cause", 0.8)
	if f.byCause, err = v.colorByWait(ctx, f, f.causeCategory, func(s *idleSpan) uint16 { return f.originCategory(s.origin) }); err != nil {
		return nil, err
	}
	say("call paths and iterations", 0.9)
	f.critical = result.CriticalPath()
	f.profile = result.Profile()
	f.waiting = result.WaitTimes()
	f.composition = f.profile.Composition(f.waiting)
	f.efficiency = f.profile.Efficiency(0, f.waiting)
	if f.iterations, err = result.Iterations(ctx, f.profile); err != nil {
		return nil, err
	}
	f.largest = sync.OnceValue(func() []waits.State { return result.Largest(MaxList) })
	f.clusters = sync.OnceValue(func() *Clusters { return v.makeClusters(f) })
	f.numbers = sync.OnceValue(func() compare.Run { return compare.Of(result) })
	f.tree = sync.OnceValue(func() *Tree { return v.makeTree(f) })
	return f, ctx.Err()
}

// prepare makes what can be asked for next, so that no request has to wait for it. What fails here is an answer when it is asked for.
func (v *view) prepare(f *findings) {
	_, _ = v.statistics(v.context, f)
	_, _ = v.byPath.get(v.colorByPath)
	_, _ = v.links()
	if arrows, err := v.arrowsOf(); err == nil && len(v.run.Messages) > mostMessages {
		f.longestWaited(newChoice(v, 0), arrows)
	}
}

// waitCategory is the category of a wait state by its kind.
func (f *findings) waitCategory(state int) uint16 {
	metric, _, _ := f.result.SpanOf(state)
	return firstWait + uint16(metric)
}

// causeCategory is the category of a wait state by the origin of its largest causes.
func (f *findings) causeCategory(state int) uint16 {
	return f.originCategory(f.origins[state])
}

// originCategory is the category of what comes from an origin.
func (f *findings) originCategory(origin waits.Origin) uint16 {
	if origin.Rank < 0 {
		return noCause
	}
	if category, ok := f.causes[origin]; ok {
		return uint16(category)
	}
	return otherCause
}
