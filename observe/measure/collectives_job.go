package measure

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"slackline/internal/stat"
	"slackline/model/clock"
	"slackline/model/unit"
)

// Placement is where a rank runs.
type Placement struct {
	CPU     int `json:"cpu"`          // when it was asked
	Allowed int `json:"allowed_cpus"` // CPUs that it may use: 1 is bound to a core
}

// collectiveJob measures collectives in one job.
type collectiveJob struct {
	ctx         context.Context
	job         *Job
	o           *CollectiveOptions
	ranks       int
	placements  []Placement
	yielding    bool
	hooked      bool // through our function in the place of the library's
	persistent  bool // the library has persistent collectives
	clocks      *clockMeasurement
	synchronize bool // the ranks have no common clock
	first       []offset
	errors      []clockError // by rank
	worst       time.Duration
}

// clockError is what the common clock of a rank may be wrong by: a bound when it was corrected, and how it grows.
type clockError struct {
	bound  int64 // ns
	growth float64
	since  time.Time
}

func (e *clockError) after(elapsed time.Duration) time.Duration {
	return time.Duration(e.bound) + time.Duration(e.growth*float64(elapsed))
}

// offset is what the clock of a rank shows more than that of rank 0, ns, when it shows at; the error is at most bound.
type offset struct{ more, at, bound int64 }

// start finds out where the ranks are and whether they have one clock.
func (m *collectiveJob) start() error {
	has, err := m.job.order("limits", int(m.o.Tolerance), 0, 0, int64(m.o.Budget), m.o.Barriers, 0)
	if err != nil {
		return err
	}
	if len(has) != 1 {
		return errAnswer
	}
	m.persistent = has[0] != 0
	places, err := m.job.stamps(3*m.ranks, "places", 0, 0, 0, 0)
	if err != nil {
		return err
	}
	for i := 0; i < len(places); i += 3 {
		m.placements = append(m.placements, Placement{int(places[i]), int(places[i+1])})
		m.yielding, m.hooked = m.yielding || places[i+2]&1 != 0, m.hooked || places[i+2]&2 != 0
	}
	m.clocks = &clockMeasurement{
		ctx: m.ctx, job: m.job, o: &ClockOptions{Patience: 100, MostPings: 2000, Inject: m.o.Inject},
		result: &Clocks{Ranks: m.ranks, Hosts: m.job.Hosts, Injected: slices.Clone(m.o.Inject)},
	}
	if err := m.clocks.inject(); err != nil {
		return err
	}
	if err := m.clocks.start(); err != nil {
		return err
	}
	m.synchronize = m.ranks > 1 && m.o.Scheme.Single() && (!m.clocks.result.OneClock || len(m.o.Inject) > 0)
	if !m.synchronize {
		return nil
	}
	if m.first, err = m.compare(); err != nil {
		return err
	}
	return m.clocks.sleep(time.Now().Add(driftBase))
}

const (
	driftBase   = 200 * time.Millisecond // at least between two comparisons that show a drift
	unseenDrift = 300                    // ppm, of clocks of which only an offset is known
)

var errAnswer = errors.New("the job gave an unexpected answer")

// compare compares all clocks with that of rank 0.
func (m *collectiveJob) compare() ([]offset, error) {
	scheme := "tree"
	if m.o.Scheme == SKaMPI {
		scheme = "linear"
	}
	c, err := m.clocks.scheme(scheme, m.ranks)
	if err != nil {
		return nil, err
	}
	return offsetsOf(c, m.clocks.result.Start)
}

// offsetsOf adds up the offsets along the edges to rank 0. starts is what the clocks showed where the times of pings start.
func offsetsOf(c *Comparison, starts []int64) ([]offset, error) {
	edges := map[int]*Edge{}
	for i := range c.Edges {
		edges[c.Edges[i].Answerer] = &c.Edges[i]
	}
	list := make([]offset, len(starts))
	for r := 1; r < len(starts); r++ {
		for at, hops := r, 0; at != 0; hops++ {
			e := edges[at]
			if e == nil || hops > len(starts) {
				return nil, errAnswer
			}
			p, ok := clock.Best(e.Pings)
			if !ok {
				return nil, errAnswer
			}
			answered := starts[at] + int64(p.Answered/unit.Nanosecond)
			if at == r {
				list[r].at = answered
			}
			list[r].more += answered - starts[e.Asker] - int64(p.Middle()/unit.Nanosecond)
			list[r].bound += int64(p.RoundTrip()/unit.Nanosecond)/2 + 1
			if hops > 0 { // the pings on the way were at other times
				list[r].bound += int64(float64(c.Took) * unseenDrift / 1e6)
			}
			at = e.Asker
		}
	}
	return list, nil
}

// correct lets every rank know how to find the time of rank 0.
func (m *collectiveJob) correct() error {
	start := time.Now()
	now, err := m.compare()
	if err != nil {
		return err
	}
	m.errors = make([]clockError, m.ranks)
	for r := 1; r < m.ranks; r++ {
		span := float64(now[r].at - m.first[r].at)
		drift, unsure := float64(now[r].more-m.first[r].more)/span, float64(now[r].bound+m.first[r].bound)/span
		if m.o.Scheme == SKaMPI || !(span > 0) {
			drift, unsure = 0, unseenDrift/1e6
		}
		if math.Abs(drift) > 0.2 {
			return errors.New("the clocks of the ranks run apart by more than 20 %: they cannot be synchronized")
		}
		if _, err := m.job.order("correct", r, int(math.Round(drift*1e12)), 0, now[r].more, int(now[r].at), 0); err != nil {
			return err
		}
		m.errors[r] = clockError{now[r].bound, unsure, start}
	}
	return nil
}

// enough reports whether at least three quarters of the tries are valid, and half of what was wanted.
func (m *collectiveJob) enough(r *CollectiveRun) bool {
	valid := r.ValidCount()
	return valid > 0 && 4*valid >= 3*len(r.Repetitions) && 2*valid >= m.o.Repeat
}

// measure measures a point: again with more time between executions until enough are valid.
func (m *collectiveJob) measure(p *CollectivePoint) (*CollectiveRun, error) {
	run, err := m.attempts(p, p.Operation.Work)
	if err != nil || run.Refused || !p.Operation.Overlaps() {
		return run, err
	}
	alone := m.median(run)
	both, err := m.attempts(p, time.Duration(alone))
	if err != nil || both.Refused || alone <= 0 {
		return run, err
	}
	percent := 100 * min(max((2*alone-m.median(both))/alone, 0), 1)
	run.Overlap = &percent
	return run, nil
}

// median is that of the times of all valid repetitions of a run, by the slowest process, ns.
func (m *collectiveJob) median(r *CollectiveRun) float64 {
	var list []float64
	for i := range r.Repetitions {
		if r.Repetitions[i].valid() {
			list = append(list, math.Round(r.Repetitions[i].time(ByMax, m.o.executions())))
		}
	}
	return stat.Quantile(stat.Sorted(list), 0.5)
}

func (m *collectiveJob) attempts(p *CollectivePoint, pause time.Duration) (*CollectiveRun, error) {
	var best *CollectiveRun
	for k := 0; k <= mostDoublings; k++ {
		if m.ctx.Err() != nil {
			return nil, context.Cause(m.ctx)
		}
		run, err := m.attempt(p, pause, k)
		if err != nil {
			return nil, err
		}
		if best == nil || run.ValidCount() > best.ValidCount() {
			best = run
		}
		if m.enough(run) {
			return run, nil
		}
		if m.o.Scheme != RoundTime && m.o.Scheme != Window {
			break
		}
	}
	best.Refused = true
	return best, nil
}

// attempt has windows or leads that were doubled so often.
func (m *collectiveJob) attempt(p *CollectivePoint, pause time.Duration, doublings int) (*CollectiveRun, error) {
	if m.synchronize {
		if err := m.correct(); err != nil {
			return nil, err
		}
	}
	number := m.o.Loop
	switch m.o.Scheme {
	case RoundTime:
		number = m.o.Lead << doublings
	case Window, SKaMPI:
		number = int(m.o.Window) << doublings
	}
	values, err := m.job.order("collective", p.Operation.number, p.Size, m.o.Repeat, int64(pause), m.o.Scheme.number(), number)
	if err != nil {
		return nil, err
	}
	for r := range m.errors {
		m.worst = max(m.worst, m.errors[r].after(time.Since(m.errors[r].since)))
	}
	run := &CollectiveRun{Doublings: doublings}
	if run.Repetitions, err = repetitionsOf(values, m.ranks); err != nil {
		return nil, err
	}
	switch m.o.Scheme {
	case RoundTime:
		run.Lead = time.Duration(values[1])
	case Window, SKaMPI:
		run.Lead = time.Duration(number)
	}
	return run, nil
}

// repetitionsOf makes repetitions of the stamps of all ranks.
func repetitionsOf(values []int64, ranks int) ([]Repetition, error) {
	const head, stamps = 2, 3
	if len(values) < head || values[0] < 1 || values[0] > int64(len(values)) || int64(len(values)) != head+values[0]*stamps*int64(ranks) {
		return nil, errAnswer
	}
	n := int(values[0])
	list := make([]Repetition, n)
	for i := range list {
		r := Repetition{Start: make([]int64, ranks), End: make([]int64, ranks), Flags: make([]int, ranks)}
		for rank := range ranks {
			s := values[head+stamps*(rank*n+i):]
			r.Start[rank], r.End[rank], r.Flags[rank] = s[0], s[1], int(s[2])
		}
		list[i] = r
	}
	return list, nil
}
