package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"slackline/analyze/replay"
	"slackline/analyze/tolerance"
	"slackline/internal/fault"
	"slackline/internal/memory"
	"slackline/model/machine"
	"slackline/model/schedule"
)

// tolerances are the curves of a run, by machine, each made when it is first asked for.
type tolerances struct {
	mu sync.Mutex
	by map[string]*lazy[*toleranceCurve]
}

// toleranceCurve is T of a run on a machine as a function of the latency.
type toleranceCurve struct {
	answer Tolerance
	graph  *tolerance.Graph // nil: it is made again when it is asked for
}

// tolerancePercents are the slowdowns that tolerances are computed for.
var tolerancePercents = tolerance.WholePercents(1, 2, 5)

const (
	// The curve of a run takes about this much memory for each of its calls.
	bytesPerCall = 200
	usualCalls   = 10_000_000 // that can be afforded if the available memory is unknown
	fewCalls     = 1_000_000  // of runs of which the curves of all machines that were asked for are kept, with all breakpoints
	mostBends    = 4000       // points of a curve
	curvePoints  = 64         // of the curve of a run with more calls than fewCalls
	// mostLatency is a latency that may be asked for, in picoseconds: one second. What T becomes there still fits.
	mostLatency = 1_000_000_000_000
)

// answerTolerance gives T over the latency.
func answerTolerance(ctx context.Context, v *view, q *query) (any, error) {
	var names []string
	for _, m := range v.opened.Machines {
		names = append(names, m.Name)
	}
	if len(names) == 0 {
		return nil, notFound("no machine is known on which this run could be replayed")
	}
	if !q.given("machine") && v.opened.OwnMachine == "" {
		q.refuse("machine", "give the machine to replay the run on: %s", strings.Join(names, ", "))
	}
	name := q.word("machine", names, v.opened.OwnMachine)
	at := q.number("latency", 0, mostLatency, 0)
	if q.err != nil {
		return nil, q.err
	}
	curve, err := v.toleranceOn(ctx, name)
	if err != nil {
		return nil, err
	}
	answer := curve.answer
	if q.given("latency") {
		graph := curve.graph
		if graph == nil {
			if graph, err = v.toleranceGraph(name); err != nil {
				return nil, err
			}
		}
		p, err := graph.At(at)
		if err != nil {
			return nil, badRequest("latency", "latency: %v", err)
		}
		answer.At = &TolerancePoint{Latency: float64(p.X), T: float64(p.T), Before: p.Left, After: p.Right}
	}
	return &answer, nil
}

// toleranceOn is the curve on a machine.
func (v *view) toleranceOn(ctx context.Context, name string) (*toleranceCurve, error) {
	v.tolerances.mu.Lock()
	if v.tolerances.by == nil {
		v.tolerances.by = map[string]*lazy[*toleranceCurve]{}
	}
	made := v.tolerances.by[name]
	if made == nil {
		if v.counts.calls > v.few {
			clear(v.tolerances.by) // those who wait for one have it
		}
		made = &lazy[*toleranceCurve]{}
		v.tolerances.by[name] = made
	}
	v.tolerances.mu.Unlock()
	return await(ctx, v, made, func() (*toleranceCurve, error) { return v.makeTolerance(name) },
		"the run is still being replayed; try again in a moment")
}

// await waits until something is made, or says later that it is not. A request that goes away leaves the work to those that come after it.
func await[T any](ctx context.Context, v *view, made *lazy[T], f func() (T, error), later string) (none T, err error) {
	done := make(chan struct{})
	fault.Go(func() {
		defer close(done)
		made.get(f)
	})
	late := time.NewTimer(v.patience)
	defer late.Stop()
	select {
	case <-done:
		return made.value, made.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-late.C:
		return none, notReady(later)
	}
}

// affords reports whether there is memory for the curve of a run with so many calls.
func affords(calls int64) bool {
	free, known := memory.Available()
	if !known {
		return calls <= usualCalls
	}
	return calls <= free/2/bytesPerCall
}

// prepared is the run as a schedule on a machine. What it takes is given up when the run is read again.
func (v *view) prepared(name string) (*tolerance.Schedule, tolerance.Network, error) {
	none := tolerance.Network{}
	on := v.machine(name)
	program, err := v.program(true)
	if err != nil {
		return nil, none, err
	}
	layout, err := on.Layout(program.Ranks())
	if err != nil {
		return nil, none, err
	}
	s, err := tolerance.Prepare(program, v.opened.Mapping.On(layout), on.Gamma)
	if err != nil {
		return nil, none, err
	}
	s.Interrupt = v.context.Err
	return s, tolerance.Network{Layout: layout}, nil
}

// latency is what curves are about.
var latency = tolerance.Variable{Parameter: tolerance.L}

// toleranceGraph makes the graph of a curve again.
func (v *view) toleranceGraph(name string) (*tolerance.Graph, error) {
	s, n, err := v.prepared(name)
	if err != nil {
		return nil, err
	}
	return s.Build(n, latency)
}

func (v *view) makeTolerance(name string) (_ *toleranceCurve, err error) {
	defer fault.Catch(&err)
	if !affords(v.counts.calls) {
		return nil, notFound(fmt.Sprintf("there is not enough memory for the tolerance of %d calls beside the timeline; end the explorer and "+
			"ask 'slackline tolerance %s --machine %s'", v.counts.calls, v.name, name))
	}
	say, end := v.works.begin(workLatency)
	defer end()
	say("reading the calls as a program", 0)
	s, n, err := v.prepared(name)
	if err != nil {
		return nil, err
	}
	say("replaying it on "+name, 0.1)
	e, err := s.Evaluate(n, latency)
	if err != nil {
		return nil, err
	}
	question := tolerance.Question{Variable: latency, Percents: tolerancePercents, Around: true}
	isLong := v.counts.calls > v.few
	if isLong {
		question.Points = curvePoints
		question.Progress = func(done, all int) error {
			say(fmt.Sprintf("%d of %d latencies", done, all), 0.4+0.6*float64(done)/float64(all))
			return v.context.Err()
		}
	}
	say("finding the tolerances", 0.3)
	answers, err := e.Ask(question)
	if err != nil {
		return nil, err
	}
	curve := &toleranceCurve{answer: toleranceAnswer(name, answers)}
	if curve.answer.Sampled = isLong; isLong {
		return curve, nil
	}
	curve.graph, err = e.Graph(latency)
	return curve, err
}

// machine is the machine of a name, which must be one of those that were opened.
func (v *view) machine(name string) *machine.Machine {
	return v.opened.Machines[slices.IndexFunc(v.opened.Machines, func(m *machine.Machine) bool { return m.Name == name })]
}

// program is the run as a schedule, for a machine that is known or not: communication of accelerators alone takes as long as in the run
// then.
func (v *view) program(machine bool) (schedule.Program, error) {
	if v.opened.Program != nil {
		return v.opened.Program, nil
	}
	return replay.New(v.run, replay.Options{NoMachine: !machine})
}

func toleranceAnswer(name string, a *tolerance.Answers) Tolerance {
	t := Tolerance{
		Machine: name, Given: a.Given.X, T: int64(a.T), LambdaL: a.Lambda.L, LambdaG: a.Lambda.Bytes, LambdaO: a.Lambda.O,
		Share: float64(a.Share()) / 1e6, Tolerances: []LatencyLimit{}, Curve: []TolerancePoint{},
	}
	for i, l := range a.Tolerance {
		t.Tolerances = append(t.Tolerances, LatencyLimit{Percent: a.Question.Percents[i].String(), Latency: l.X, Unbounded: l.Unbounded})
	}
	n := len(a.Curve)
	t.Cut = n > mostBends
	for i := range min(n, mostBends) {
		p := &a.Curve[i]
		if t.Cut { // evenly, with both ends
			p = &a.Curve[i*(n-1)/(mostBends-1)]
		}
		x, _ := p.X.Float64()
		y, _ := p.T.Float64()
		t.Curve = append(t.Curve, TolerancePoint{Latency: x, T: y, Before: p.Before, After: p.After})
	}
	return t
}
