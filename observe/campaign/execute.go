package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"slackline/internal/cluster"
	"slackline/internal/fault"
	"slackline/internal/parallel"
)

// Options define how a campaign is carried out.
type Options struct {
	// Self is the program with the arguments that make it a supervisor; the directory of the run and
	// the number of the attempt are added. Name is what it shall be called.
	Self     []string
	Name     string
	Note     func(text string) // gets what the user should know; may be nil
	Progress func(Progress)    // gets now and then how far it is; may be nil
	Begin    func(Team)        // gets who shares the runs; may be nil

	Jobs        int           // runs at a time on each host; 0: as in the plan, see Team
	Environment []string      // of what is started; nil: that of this process
	Group       cluster.Group // the processes that share the runs; nil: this one alone. The others call Help
	Host        string        // of this process; empty: as the system reports
	// Unbind lets runs use all cores of their host, whatever this process is bound to, unless each
	// process does runs of its own.
	Unbind bool
}

// Progress is how far a campaign is.
type Progress struct {
	Done, Failed, Running, Total int
	Left                         time.Duration // estimated; 0: unknown
	Queued                       []string      // of the running ones those that a batch system has not started: the reasons that it gives
}

// Summary is what came out of a campaign.
type Summary struct {
	Total, Done  int
	Failed       []RunState
	Unaffordable int // runs for which the budget does not suffice
	Executed     int // runs that ended well in this session
	Adopted      int // of them those that an earlier session started
}

// task is a run that is to be done, or taken over.
type task struct {
	run   *Run
	tries int // in this session
	adopt bool
}

// execution is a campaign that is being carried out.
type execution struct {
	*Campaign
	options Options

	mu       sync.Mutex
	queue    []*task
	running  map[*Run]time.Time
	queued   map[*Run]string // why the batch system has not started a run
	told     []string        // of these reasons those that need no note
	away     time.Time       // when it was noted last that the batch system does not answer
	reserved float64         // core seconds of what is running, estimated
	failed   map[string]bool
	team     Team
	crew     *crew // nil: there are no others
	summary  Summary
	fatal    error
	cancel   context.CancelFunc
}

// Run carries out what is left of the campaign. Failed runs are tried anew. When ctx is done, runs at
// work are ended; jobs of a batch system go on, and are taken over at the next start.
func (c *Campaign) Run(ctx context.Context, o Options) (*Summary, error) {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if err := c.session(ctx, o.Environment); err != nil {
		return nil, err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	x := &execution{Campaign: c, options: o, running: map[*Run]time.Time{}, queued: map[*Run]string{}, told: usualReasons(),
		failed: map[string]bool{}, cancel: cancel}
	if err := x.fill(); err != nil {
		return nil, err
	}
	if err := x.gather(ctx); err != nil {
		return nil, err
	}
	x.carryOut(inner)
	return x.finish(ctx)
}

// carryOut does all tasks.
func (x *execution) carryOut(ctx context.Context) {
	var workers parallel.Group
	for i := range min(len(x.team.places), max(len(x.queue), 1)) {
		workers.Go(func() { x.work(ctx, x.team.places[i]) })
	}
	finished := make(chan struct{})
	fault.Go(func() {
		defer close(finished)
		if x.crew == nil {
			workers.Wait()
			return
		}
		if err := x.crew.lead(ctx, workers.Wait); err != nil {
			x.giveUp(err)
		}
		workers.Wait()
	})
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-finished:
			waiting = false
		case <-tick.C:
		}
		if x.options.Progress != nil {
			x.options.Progress(x.progress())
		}
	}
}

// giveUp ends all runs because of an error, which the first one decides. An interrupt is none.
func (x *execution) giveUp(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fatal == nil && !errors.Is(err, context.Canceled) {
		x.fatal = err
	}
	x.cancel()
}

// fill makes the tasks: first what an earlier session left at work.
func (x *execution) fill() error {
	var rest []*task
	for _, run := range x.runs {
		h := x.state.runs[run.Name]
		switch {
		case h != nil && h.open:
			x.queue = append(x.queue, &task{run: run, adopt: true})
		case h.ok():
		case h != nil && h.end != nil && h.end.Status == Unread && x.reread(run, h.end) == nil:
			end := *h.end
			end.Status, end.Reason = OK, ""
			if err := x.note(&end); err != nil {
				return err
			}
			x.summary.Executed++
		default:
			rest = append(rest, &task{run: run})
		}
	}
	x.queue = append(x.queue, rest...)
	return nil
}

// reread tries to read the output of a run that could not be read before: the plan may have changed.
func (x *execution) reread(run *Run, end *End) error {
	_, err := run.measure(x.Base, x.RunDir(run.Name), &end.result)
	return err
}

// work does tasks until there is none.
func (x *execution) work(ctx context.Context, at place) {
	for ctx.Err() == nil {
		t, estimate := x.next()
		if t == nil {
			return
		}
		end, err := x.attempt(ctx, t, at)
		x.settle(t, estimate, end, err)
	}
}

// next takes the next task that the budget allows.
func (x *execution) next() (*task, float64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.queue) > 0 {
		t := x.queue[0]
		x.queue = x.queue[1:]
		cost := 0.0
		if x.Plan.Budget > 0 {
			cost = t.run.Cores * x.estimate(t.run)
		}
		if x.Plan.Budget > 0 && !t.adopt {
			used := x.state.used + x.reserved
			if used+cost > x.Plan.Budget*3600 || used >= x.Plan.Budget*3600 {
				x.summary.Unaffordable++
				continue
			}
		}
		x.reserved += cost
		x.running[t.run] = time.Now()
		return t, cost
	}
	return nil, 0
}

// settle notes what came of a task, and plans another try if there is one left.
func (x *execution) settle(t *task, cost float64, end *End, err error) {
	x.mu.Lock()
	x.reserved -= cost
	delete(x.running, t.run)
	delete(x.queued, t.run)
	if err == nil && end != nil {
		err = x.note(end)
	}
	x.mu.Unlock()
	if err != nil {
		x.giveUp(err)
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case end == nil || end.Status == Interrupted:
		return // by the user
	case end.Status == OK:
		delete(x.failed, t.run.Name)
		x.summary.Executed++
		if t.adopt {
			x.summary.Adopted++
			x.options.Note(fmt.Sprintf("%s, started by an earlier session, has ended meanwhile", t.run.Name))
		}
		return
	case t.adopt: // it was started before, and is not an attempt of this session
		x.queue = append(x.queue, &task{run: t.run})
		x.options.Note(fmt.Sprintf("%s, started by an earlier session, %s: %s; it is done again", t.run.Name, end.Status, end.Reason))
		return
	}
	t.tries++
	again := ""
	if t.tries <= x.Plan.Retries {
		again = "; it is tried again"
		x.queue = append(x.queue, t)
	} else {
		x.failed[t.run.Name] = true
	}
	x.options.Note(fmt.Sprintf("%s %s: %s%s; see %s", t.run.Name, end.Status, end.Reason, again, x.RunDir(t.run.Name)))
}

// note writes an end into the journal.
func (x *execution) note(end *End) error {
	if err := x.journal.Append(end); err != nil {
		return err
	}
	x.state.end(end)
	return nil
}

// finish sums up.
func (x *execution) finish(ctx context.Context) (*Summary, error) {
	s := &x.summary
	for _, r := range x.States() {
		s.Total++
		switch {
		case r.Done():
			s.Done++
		case x.failed[r.Name]:
			s.Failed = append(s.Failed, r)
		}
	}
	if x.fatal != nil {
		return s, x.fatal
	}
	return s, ctx.Err()
}

// estimate is how many seconds a run will take: as others at its point did, else as all did.
func (x *execution) estimate(run *Run) float64 {
	var same, all, nSame, nAll float64
	for _, other := range x.runs {
		h := x.state.runs[other.Name]
		if !h.ok() {
			continue
		}
		all, nAll = all+h.end.Wall, nAll+1
		if slices.Equal(other.At, run.At) {
			same, nSame = same+h.end.Wall, nSame+1
		}
	}
	switch {
	case nSame > 0:
		return same / nSame
	case nAll > 0:
		return all / nAll
	}
	return 0
}

// progress reports how far it is.
func (x *execution) progress() Progress {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := Progress{Running: len(x.running), Failed: len(x.failed), Total: len(x.runs)}
	p.Queued = slices.Sorted(maps.Values(x.queued))
	mean, n := 0.0, 0
	for _, run := range x.runs {
		if h := x.state.runs[run.Name]; h.ok() && !h.open {
			p.Done++
			mean, n = mean+h.end.Wall, n+1
		}
	}
	if n == 0 {
		return p
	}
	left := mean / float64(n) * float64(len(x.queue)+len(x.running)) / float64(len(x.team.places))
	for _, start := range x.running {
		left -= min(time.Since(start).Seconds(), mean/float64(n)) / float64(len(x.team.places))
	}
	p.Left = time.Duration(max(left, 0) * float64(time.Second))
	return p
}
