package explore

import (
	"context"
	"errors"
	"sync"
	"time"

	"slackline/analyze/profile"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// view is one generation of an input: what was read, and what was made of it. It does not change, but for what is
// made of it later.
type view struct {
	name       string
	generation int
	stamp      stamp
	opened     *Opened
	threads    int
	context    context.Context
	cancel     context.CancelFunc
	turns      chan struct{} // of the server: taken by requests that are being computed
	patience   time.Duration // of requests that wait for the analysis
	few        int64         // calls of a run that is not long

	// Of a run:
	run     *timeline.Timeline // as it was read
	tl      *timeline.Timeline // with streams as further locations
	order   []int              // locations of rows; nil: rows are locations
	paths   *profile.Paths
	windows *profile.Windows
	layout  *layout
	kinds   *coloring // by kind
	counts  runCounts

	byPath   lazy[*coloring]
	matrix   lazy[[]profile.Link]
	arrows   lazy[*arrowIndex]
	launches lazy[launchIndex]
	dataset  lazy[*datasetView] // of a dataset

	tolerances tolerances
	advice     lazy[*Advice]
	analysis   analysis
	works      works
}

// runCounts are how much of everything there is.
type runCounts struct {
	calls      int64
	clockError unit.Duration
	host       string
}

// lazy is something that is made when it is first asked for. A request that goes away does not end its making.
type lazy[T any] struct {
	once  sync.Once
	value T
	err   error
}

func (l *lazy[T]) get(f func() (T, error)) (T, error) {
	l.once.Do(func() { l.value, l.err = f() })
	return l.value, l.err
}

// errNoRun is the answer to questions about a run if the input is a dataset.
var errNoRun = badRequest("run", "this input is a dataset, not a run; ask for series and figure")

// newView prepares what was read. It stops when ctx is done; what goes on in the background, when life is.
func newView(ctx, life context.Context, opened *Opened, threads int) (*view, error) {
	v := &view{opened: opened, threads: threads, run: opened.Timeline, turns: make(chan struct{}, 1), patience: defaultPatience, few: fewCalls}
	v.context, v.cancel = context.WithCancel(life)
	v.analysis.done = make(chan struct{})
	if v.run == nil {
		if opened.Dataset == nil {
			return nil, errors.New("there is neither a run nor a dataset in it")
		}
		return v, nil
	}
	v.tl = v.run.WithStreams()
	v.order = rowOrder(v.tl)
	if !v.tl.Lifetimes().Fits() {
		return nil, errTooLong
	}
	var err error
	if v.paths, err = profile.NewPaths(v.tl); err != nil {
		return nil, err
	}
	v.windows = profile.NewWindows(v.tl, v.paths, threads)
	v.count()
	v.layout = newLayout(v, usual)
	v.kinds, err = v.colorByKind(ctx)
	return v, err
}

// errTooLong is returned for a run whose times the pages cannot show: they have them in 64 bits.
var errTooLong = errors.New("the time of all threads together is longer than 106 days, the most that can be explored; " +
	"explore a part of the run, or fewer ranks")

// ps is a sum of a run that can be explored, in picoseconds.
func ps(s unit.Sum) int64 { return int64(s.Duration()) }

func (v *view) count() {
	host := ""
	for i := range v.run.Locations {
		l := &v.run.Locations[i]
		v.counts.calls += int64(l.Calls.Len())
		if l.ClockError < 0 || v.counts.clockError < 0 {
			v.counts.clockError = -1
		} else {
			v.counts.clockError = max(v.counts.clockError, l.ClockError)
		}
		if i == 0 {
			host = l.Host
		} else if l.Host != host {
			host = ""
		}
	}
	v.counts.host = host
}

// turn waits until a request may be computed: a few at a time, so that many take no more memory than a few. It must be
// ended. Waiting for an analysis takes no turn.
func (v *view) turn(ctx context.Context) (end func(), err error) {
	select {
	case v.turns <- struct{}{}:
		return func() { <-v.turns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// length is how long the run lasts, at least one picosecond.
func (v *view) length() unit.Duration { return v.end() - v.tl.Start }

// end is when all has ended; a run in which no time passes still has one moment.
func (v *view) end() unit.Duration { return max(v.tl.End, v.tl.Start+1) }

// since is a time as requests and answers have it: since the start of the run.
func (v *view) since(t unit.Duration) int64 { return int64(t - v.tl.Start) }
