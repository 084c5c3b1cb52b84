package whatif

import (
	"context"
	"errors"
	"fmt"
	"math"

	"slackline/analyze/simulate"
	"slackline/internal/cluster"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// Series runs a program at several process counts, with as many replicas of the noise at each.
type Series struct {
	Counts   []int
	Program  func(ranks int) (schedule.Program, error)
	Machine  *machine.Machine
	Options  simulate.Options // model, mapping, threads and progress; the noise is that below
	Noise    Noise
	Replicas int // per count, at least 1

	// Group is the processes that share the runs; nil: this one alone. Process 0 has the points, what
	// is known and the progress.
	Group cluster.Group

	// Known holds what is already simulated and takes what will be; nil: nothing is.
	Known *Checkpoint
	// Progress is called after every run, one call at a time; nil: not at all. Known does not
	// change during the call.
	Progress func(Progress)

	trace *noise.Detours // of the noise, if it is already made
}

// Progress is how far a series is.
type Progress struct {
	Ranks    int     // process count that is being simulated
	Replicas int     // finished ones of it
	Share    float64 // of all work, as far as it can be foreseen
	Messages int64   // simulated since the call before
}

// Point is what a series found out about one process count.
type Point struct {
	Ranks     int
	Noiseless unit.Duration   // makespan without noise
	Samples   []unit.Duration // makespan of each replica, from replica 0 on
	Warnings  []string        // of the run without noise
}

// Run runs the series. If it is interrupted, it returns the points so far with the error: of an
// unfinished one as many replicas as are finished from replica 0 on, so that the point equals that of
// a run with fewer replicas. Points without a finished replica are left out.
func (s *Series) Run(ctx context.Context) ([]Point, error) {
	r, err := s.newRun()
	if err != nil {
		return nil, err
	}
	point := r.point
	if s.Group != nil && s.Group.Size() > 1 {
		if err := r.quietRuns(ctx); err != nil {
			return nil, err
		}
		point = r.sharedPoint
	}
	var points []Point
	for i := range s.Counts {
		p, err := point(ctx, i)
		if p != nil && len(p.Samples) > 0 {
			points = append(points, *p)
		}
		if err != nil {
			return points, err
		}
	}
	return points, nil
}

// seriesRun is one call of Run.
type seriesRun struct {
	*Series
	known    *Checkpoint
	trace    *noise.Detours // nil: no noise
	work     workload
	messages int64      // not reported yet
	warnings [][]string // of the runs without noise, by process count; among several processes
}

func (s *Series) newRun() (*seriesRun, error) {
	if s.Replicas < 1 {
		return nil, fmt.Errorf("%d replicas; give at least 1", s.Replicas)
	}
	r := &seriesRun{Series: s, known: s.Known, trace: s.trace}
	if r.trace == nil {
		var err error
		if r.trace, err = s.Noise.Trace(); err != nil {
			return nil, err
		}
	}
	if r.known == nil {
		r.known = NewCheckpoint(nil)
	}
	r.work = newWorkload(s.Counts, s.Replicas)
	return r, nil
}

// point runs one process count. It returns what is finished also with an error.
func (r *seriesRun) point(ctx context.Context, i int) (*Point, error) {
	ranks := r.Counts[i]
	kept := r.known.at(ranks)
	p := &Point{Ranks: ranks}
	finished := func(err error) (*Point, error) {
		p.Noiseless, p.Samples = kept.Noiseless, kept.prefix(r.Replicas)
		return p, err
	}
	missing := kept.missing(r.Replicas)
	if len(missing) == 0 && kept.Ops > 0 {
		r.work.begin(i, kept.Ops, r.Replicas)
		return finished(nil)
	}
	program, err := r.Program(ranks)
	if err != nil {
		return nil, err
	}
	if kept.Ops == 0 {
		result, err := simulate.Run(ctx, program, r.Machine, r.quiet())
		if err != nil {
			return nil, err
		}
		kept.Noiseless, kept.Ops = result.Makespan, max(result.Ops, 1)
		p.Warnings = result.Warnings
		r.messages += result.Messages
	}
	r.work.begin(i, kept.Ops, r.Replicas-len(missing))
	r.report(i)
	return finished(r.replicas(ctx, program, i, missing))
}

// quiet are the options of a run without noise.
func (r *seriesRun) quiet() simulate.Options {
	return simulate.Options{
		Model: r.Options.Model, Mapping: r.Options.Mapping, Threads: r.Options.Threads, Progress: r.Options.Progress,
	}
}

// replicas runs the missing replicas of a process count.
func (r *seriesRun) replicas(ctx context.Context, program schedule.Program, i int, missing []int) error {
	ranks := r.Counts[i]
	kept := r.known.at(ranks)
	source, err := r.injectorOf(ranks, missing)
	if err != nil {
		return err
	}
	if source == nil {
		for _, replica := range missing {
			kept.set(replica, kept.Noiseless)
		}
		return nil
	}
	return simulate.Replicas(ctx, program, r.Machine, r.quiet(), len(missing),
		func(n int) (*noise.Injection, error) { return source.of(missing[n]) },
		func(n int, result *simulate.Result) {
			source.giveBack(missing[n])
			kept.set(missing[n], result.Makespan)
			r.messages += result.Messages
			r.work.finished(i)
			r.report(i)
		})
}

// injectorOf returns what makes the noise of replicas; nil: there is none, so that all equal the run
// without noise.
func (r *seriesRun) injectorOf(ranks int, missing []int) (*injector, error) {
	if r.Noise.IsZero() || len(missing) == 0 {
		return nil, nil
	}
	layout, err := r.Machine.Layout(ranks)
	if err != nil {
		return nil, err
	}
	source := newInjector(&r.Noise, r.trace, layout)
	first, err := source.of(missing[0]) // finds mistakes, and noise without detours
	if err != nil || first.Empty() {
		return nil, err
	}
	source.giveBack(missing[0])
	return source, nil
}

func (r *seriesRun) report(i int) {
	if r.Progress != nil {
		r.Progress(Progress{
			Ranks: r.Counts[i], Replicas: r.work.done[i], Share: r.work.share(), Messages: r.messages,
		})
		r.messages = 0
	}
}

// workload foresees how much work a series is. The work of a replica is the number of operations of
// its program: known once the process count has begun, before that extrapolated as a power of it.
type workload struct {
	counts   []int
	replicas int
	ops      []float64 // of one run; 0: not known yet
	done     []int     // replicas
}

func newWorkload(counts []int, replicas int) workload {
	return workload{counts: counts, replicas: replicas, ops: make([]float64, len(counts)), done: make([]int, len(counts))}
}

func (w *workload) begin(i int, ops int64, done int) { w.ops[i], w.done[i] = float64(ops), done }

func (w *workload) finished(i int) { w.done[i]++ }

// share is the part of the work that is done.
func (w *workload) share() float64 {
	known := -1 // the last process count with known work
	exponent := 1.1
	for i, ops := range w.ops {
		if ops == 0 {
			continue
		}
		if known >= 0 && w.counts[i] != w.counts[known] {
			exponent = math.Log(ops/w.ops[known]) / math.Log(float64(w.counts[i])/float64(w.counts[known]))
		}
		known = i
	}
	if known < 0 {
		return 0
	}
	done, all := 0.0, 0.0
	for i, ops := range w.ops {
		if ops == 0 {
			ops = w.ops[known] * math.Pow(float64(w.counts[i])/float64(w.counts[known]), exponent)
		}
		done += ops * float64(w.done[i])
		all += ops * float64(w.replicas)
	}
	return done / all
}

// Interrupted reports whether a run ended by an interrupt, so that its points are worth showing.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
