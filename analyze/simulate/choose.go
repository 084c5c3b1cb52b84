package simulate

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"slackline/analyze/tolerance"
	"slackline/internal/cluster"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// engineChoice forces an engine, for tests; users get engineAuto.
type engineChoice int

const (
	engineAuto   engineChoice = iota
	engineEvent               // event engine, general core
	engineWindow              // window engine, general core
	engineLean                // window engine, lean core
)

// errNotApplicable reports that a forced engine does not fit the program or the machine.
var errNotApplicable = errors.New("simulate: this engine does not apply")

// ErrOverflow is returned when a time does not fit into 63 bits of picoseconds.
var ErrOverflow = tolerance.ErrOverflow

// Run simulates a program on a machine. It may be interrupted by the context.
func Run(ctx context.Context, p schedule.Program, m *machine.Machine, o Options) (*Result, error) {
	return runWith(ctx, p, m, o, engineAuto)
}

// runWith is Run with a given engine.
func runWith(ctx context.Context, p schedule.Program, m *machine.Machine, o Options, choice engineChoice) (*Result, error) {
	if o.together() && o.aloneBecause() != "" {
		return runAlone(ctx, p, m, o, choice)
	}
	r, err := newRun(p, m, o)
	if err != nil {
		return nil, err
	}
	var result *Result
	switch o.Model {
	case LogGPS:
		result, err = r.runModelLogGPS(ctx)
	case LogGOPS, "":
		result, err = r.choose(ctx, choice)
	default:
		return nil, fmt.Errorf("unknown model %q; the models are %s and %s", o.Model, LogGOPS, LogGPS)
	}
	return r.checked(result, err)
}

// run is one call of Run.
type run struct {
	*problem
	program   schedule.Program
	expansion *collective.Expansion
	options   Options
	threads   int
	memory    *leanMemory // nil: of its own
	part      *part       // of this process; nil: all
	before    cluster.Traffic
}

// newRun puts a program on a machine.
func newRun(p schedule.Program, m *machine.Machine, o Options) (*run, error) {
	layout, err := m.Layout(p.Ranks())
	if err != nil {
		return nil, err
	}
	if g, ok := p.(*schedule.Graph); ok && o.Model != LogGPS {
		p = schedule.Pack(g)
	}
	if g, ok := p.(interface{ IsPart() bool }); ok && g.IsPart() && !o.together() {
		return nil, errPart
	}
	o.Mapping = o.Mapping.On(layout)
	r := &run{program: p, options: o, threads: o.Threads}
	if r.threads <= 0 {
		r.threads = runtime.GOMAXPROCS(0)
	}
	r.expansion = collective.Expand(p, o.Mapping, m.Gamma)
	var stream schedule.Stream = r.expansion
	if !p.Shape().Collectives {
		stream = schedule.Blocks(p)
	}
	if o.together() {
		part := partOf(layout, o.Group.Rank(), o.Group.Size())
		r.part, r.before = &part, o.Group.Traffic()
	}
	r.problem = newProblem(stream, layout, nil).restrict(r.part)
	if err := checkCalls(&o, p, r.shape); err != nil {
		return nil, err
	}
	return r, r.setNoise(o.Noise)
}

// setNoise puts noise on the ranks; nil: none.
func (r *run) setNoise(in *noise.Injection) error {
	if in != nil {
		if err := in.CheckRanks(r.layout.Ranks); err != nil {
			return err
		}
		if in.Empty() {
			in = nil
		}
	}
	r.problem = newProblem(r.stream, r.layout, in).restrict(r.part)
	return nil
}

// checked returns the result of a run, unless a collective could not be expanded.
func (r *run) checked(result *Result, err error) (*Result, error) {
	if r.part != nil {
		return result, err // the processes have agreed on it
	}
	if e := r.expansion.Err(); e != nil {
		return nil, e
	}
	return result, err
}

// choose takes the fastest engine that is exact for the problem.
func (r *run) choose(ctx context.Context, choice engineChoice) (*Result, error) {
	windows := r.window > 0
	switch choice {
	case engineEvent:
		return r.runEvent(ctx)
	case engineWindow:
		if !windows {
			return nil, errNotApplicable
		}
		return r.runWindow(ctx)
	}
	lean, large, err := r.survey(ctx)
	if err != nil {
		return nil, err
	}
	if choice == engineLean && !lean {
		return nil, errNotApplicable
	}
	if lean {
		result, err := r.runLean(ctx, large)
		if !errors.Is(err, errNotApplicable) || choice == engineLean {
			return result, err
		}
	}
	if windows && !large {
		result, err := r.runWindow(ctx)
		if !errors.Is(err, errNotApplicable) {
			return result, err
		}
	}
	return r.runEvent(ctx)
}

// largeMessages reports whether a program in memory is known to have a message larger than the smallest S. For
// programs that are made on demand the window engine finds out.
func (r *run) largeMessages() bool {
	p, ok := r.program.(*schedule.Packed)
	if !ok || !r.rendezvous {
		return false
	}
	limit := machine.NoLimit
	for c, p := range r.layout.Machine.Classes {
		if r.layout.Occurs(machine.Class(c)) {
			limit = min(limit, p.Eager)
		}
	}
	return p.LargestSend() > limit
}

// runEvent runs the general core in the event engine.
func (r *run) runEvent(ctx context.Context) (*Result, error) {
	g := newGeneral(newGeneralState(r.problem, r.options.Breakdown))
	link, err := r.open(ctx, 1)
	if err != nil {
		return nil, err
	}
	if link != nil {
		g.ports.open(link)
		err = runEventsTogether(g, link, r.tick())
	} else {
		g.recorder = newRecorder(r, g.generalState)
		err = runEvents(ctx, g, r.tick())
	}
	if err != nil {
		return nil, err
	}
	return r.generalResult(g.generalState, []*general{g}, "event", link)
}

// runWindow runs the general core in the window engine.
func (r *run) runWindow(ctx context.Context) (*Result, error) {
	state := newGeneralState(r.problem, r.options.Breakdown)
	threads := r.threads
	if r.options.records() {
		threads = 1
	}
	link, err := r.open(ctx, threads)
	if err != nil {
		return nil, err
	}
	shards := newGeneralShards(state, threads, link)
	shards[0].recorder = newRecorder(r, state)
	cores := make([]windowCore, len(shards))
	parts := make([]*general, len(shards))
	for i, s := range shards {
		cores[i], parts[i] = s, s.general
	}
	if err := r.runWindows(ctx, cores, link); err != nil {
		return nil, err
	}
	return r.generalResult(state, parts, "window", link)
}

// tick returns the function that reports progress.
func (r *run) tick() func(now, messages int64) {
	if r.options.Progress == nil {
		return func(int64, int64) {}
	}
	return func(now, messages int64) { r.options.Progress(unit.Duration(now), messages) }
}

// generalResult makes a result of the state that the general core has left.
func (r *run) generalResult(s *generalState, parts []*general, engine string, link *link) (*Result, error) {
	result := &Result{Engine: engine, Threads: len(parts)}
	var end outcome
	for _, g := range parts {
		end.set(endLarge, g.large)
		end.set(endOverflow, g.overflow)
		result.add(&g.stats)
	}
	end.set(endUnfinished, !s.finished())
	if err := r.agree(&end, link); err != nil {
		return nil, err
	}
	switch {
	case end.has(endLarge):
		return nil, errNotApplicable
	case end.has(endOverflow):
		return nil, ErrOverflow
	case end.has(endUnfinished):
		return nil, r.unfinished(s, parts, link)
	}
	result.Finish = make([]unit.Duration, r.ranks)
	for rank := range result.Finish {
		for cpu := range s.cpus {
			result.Finish[rank] = max(result.Finish[rank], unit.Duration(s.nexto[rank*s.cpus+cpu]))
		}
		result.Makespan = max(result.Makespan, result.Finish[rank])
	}
	if s.breakdown != nil {
		result.Ranks = make([]Breakdown, r.ranks)
		for rank, b := range s.breakdown {
			result.Ranks[rank] = b.of(int64(result.Finish[rank]) * int64(s.cpus))
		}
	}
	if g := parts[0]; g.recorder != nil {
		g.recorder.addTo(result)
	}
	return result, result.gather(r, link)
}

// add adds the counters of a thread to a result.
func (r *Result) add(c *counters) {
	r.Messages += c.messages
	r.Ops += c.ops
	r.Queues.Expected += c.Expected
	r.Queues.Unexpected += c.Unexpected
	r.Queues.Rendezvous += c.Rendezvous
	r.Queues.MaxPosted = max(r.Queues.MaxPosted, c.MaxPosted)
	r.Queues.MaxUnexpected = max(r.Queues.MaxUnexpected, c.MaxUnexpected)
}

// of returns the breakdown of a total time.
func (b *breakdownSum) of(total int64) Breakdown {
	return Breakdown{
		Compute:  unit.Duration(b.compute),
		Overhead: unit.Duration(b.overhead),
		Noise:    unit.Duration(b.noise),
		Waiting:  unit.Duration(total - b.compute - b.overhead - b.noise),
	}
}
