package measure

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"slackline/model/clock"
	"slackline/model/unit"
)

// Injection is what is done to the clock of a rank, so that the truth is known: it shows
// Offset + (1+Drift) * t at the time t of its host.
type Injection struct {
	Offset time.Duration
	Drift  float64
}

// ClockOptions define how the clocks of the ranks of a job are compared.
type ClockOptions struct {
	Patience    int           // pings go on until none was shorter for so many
	MostPings   int           // of a pair at one moment
	Moments     int           // the clocks are compared so often,
	Duration    time.Duration // spread over this
	Wait        time.Duration // then the corrections are checked after this
	Inject      []Injection   // by rank; none: the clocks as they are
	RoundTrips  int           // pings between ranks 0 and 1 for the distribution
	LinearToo   bool          // the linear scheme is run beside the tree
	ProcessSets bool          // both schemes are timed for numbers of ranks up to all
	Progress    func(what string)
}

// DefaultClocks are the options that suit most machines.
func DefaultClocks() ClockOptions {
	return ClockOptions{
		Patience: 100, MostPings: 2000, Moments: 10, Duration: time.Second, Wait: 10 * time.Second, RoundTrips: 5000,
		LinearToo: true, ProcessSets: true,
	}
}

// Check returns an error if the options cannot be followed.
func (o *ClockOptions) Check(ranks int) error {
	switch {
	case ranks < 2 || ranks > 1<<16:
		return fmt.Errorf("the clocks of 2 to 65536 ranks can be compared, not of %d", ranks)
	case o.Patience < 1 || o.Patience > 1e5:
		return fmt.Errorf("pings go on until none was shorter for 1 to 100000, not %d", o.Patience)
	case o.MostPings < o.Patience || o.MostPings > 1e6:
		return fmt.Errorf("a pair sends %d to 1000000 pings at a moment, not %d", o.Patience, o.MostPings)
	case o.Moments < 2 || o.Moments > 1e5:
		return fmt.Errorf("clocks are compared at 2 to 100000 moments, not %d", o.Moments)
	case o.Duration < time.Millisecond || o.Duration > 30*24*time.Hour:
		return fmt.Errorf("clocks are compared for 1ms to 30 days, not %s", o.Duration)
	case o.Wait < 0 || o.Wait > 24*time.Hour:
		return fmt.Errorf("corrections are checked after 0s to 24h, not %s", o.Wait)
	case o.RoundTrips < 100 || o.RoundTrips > 1e6:
		return fmt.Errorf("100 to 1000000 round trips are measured, not %d", o.RoundTrips)
	case len(o.Inject) != 0 && len(o.Inject) != ranks:
		return fmt.Errorf("offsets and drifts of %d ranks for a job of %d", len(o.Inject), ranks)
	}
	for r, i := range o.Inject {
		if i.Offset < -mostInjected || i.Offset > mostInjected || !(math.Abs(i.Drift) <= 0.1) {
			return fmt.Errorf("rank %d: offsets up to %s and drifts up to 100000 ppm can be injected", r, mostInjected)
		}
	}
	return nil
}

const mostInjected = 24 * time.Hour

// Edge is a pair of ranks whose clocks were compared, with the pings of one moment.
type Edge struct {
	Asker, Answerer, Round int
	Pings                  []clock.Ping
}

// Comparison is one run of a scheme.
type Comparison struct {
	Took  time.Duration // at rank 0, until every rank knew its offset
	Edges []Edge
}

// Rounds is how many rounds the scheme had: no rank takes part in two comparisons of a round.
func (c *Comparison) Rounds() int {
	rounds := 0
	for _, e := range c.Edges {
		rounds = max(rounds, e.Round)
	}
	return rounds
}

// Pings is how many pings there were.
func (c *Comparison) Pings() int {
	n := 0
	for _, e := range c.Edges {
		n += len(e.Pings)
	}
	return n
}

// SchemeTime is how long both schemes take for a number of ranks, the shortest of several runs.
type SchemeTime struct {
	Ranks  int           `json:"ranks"`
	Tree   time.Duration `json:"tree_ns"`
	Linear time.Duration `json:"linear_ns"`
}

// Clocks is what was found out about the clocks of a job.
type Clocks struct {
	Ranks      int
	Hosts      []string
	OneClock   bool // all ranks are on one host: their clocks are one, but for what was injected
	Sources    []*HostClock
	Start      []int64     // ns that the clock of each rank showed at the beginning; its times count from there
	Injected   []Injection // by rank, or none
	RoundTrips []clock.Ping
	Choice     []Choice
	Moments    []*Comparison // by the tree
	Linear     []*Comparison // by the linear scheme, at the same moments
	Later      *Comparison   // after the wait, rank 0 with every other one
	Ends       []RankErrors  // by rank
	Times      []SchemeTime
	Remarks    []string
}

// quantum is what a stamp may be wrong by because clocks show whole nanoseconds: one for the reading, one for
// what is injected.
const quantum = 2 * unit.Nanosecond

// MeasureClocks compares the clocks of the ranks of a job.
func MeasureClocks(ctx context.Context, j *Job, o ClockOptions) (*Clocks, error) {
	if err := o.Check(len(j.Hosts)); err != nil {
		return nil, err
	}
	m := &clockMeasurement{ctx: ctx, job: j, o: &o, result: &Clocks{Ranks: len(j.Hosts), Hosts: j.Hosts, Injected: slices.Clone(o.Inject)}}
	for _, step := range []func() error{m.inject, m.sources, m.start, m.roundTrips, m.schemes, m.compare, m.later} {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := step(); err != nil {
			return nil, orCause(ctx, err)
		}
	}
	return m.result, m.result.evaluate()
}

type clockMeasurement struct {
	ctx    context.Context
	job    *Job
	o      *ClockOptions
	result *Clocks
}

func (m *clockMeasurement) report(format string, args ...any) {
	if m.o.Progress != nil {
		m.o.Progress(fmt.Sprintf(format, args...))
	}
}

func (m *clockMeasurement) inject() error {
	for r, i := range m.o.Inject {
		if _, err := m.job.do("inject", r, int(math.Round(i.Drift*1e12)), 0, float64(i.Offset.Nanoseconds()), 0, 0); err != nil {
			return err
		}
		m.result.Injected[r].Drift = math.Round(i.Drift*1e12) / 1e12 // as the job got it
	}
	return nil
}

// sources examines each host once.
func (m *clockMeasurement) sources() error {
	seen := map[string]bool{}
	for r, host := range m.job.Hosts {
		if seen[host] {
			continue
		}
		seen[host] = true
		m.report("sources of time of %s", host)
		h, err := m.job.sources(r)
		if err != nil {
			return err
		}
		m.result.Sources = append(m.result.Sources, h)
	}
	return nil
}

// start asks all clocks where they are, and whether they are one.
func (m *clockMeasurement) start() error {
	values, err := m.job.stamps(2*m.result.Ranks, "clocks", 0, 0, 0, 0)
	if err != nil {
		return err
	}
	m.result.OneClock = true
	for r := range m.result.Ranks {
		m.result.Start = append(m.result.Start, values[2*r])
		m.result.OneClock = m.result.OneClock && values[2*r+1] == values[1]
	}
	switch {
	case !m.result.OneClock && len(m.o.Inject) > 0:
		m.result.Remarks = append(m.result.Remarks, "the ranks are on several hosts with clocks of their own: what was injected comes on top, "+
			"so the true errors are not known")
	case m.result.OneClock && len(m.o.Inject) == 0:
		m.result.Remarks = append(m.result.Remarks, "all ranks are on one host and have one clock: the true offsets and drifts are 0")
	}
	return nil
}

// ping makes times of ranks from the stamps of a ping.
func (m *clockMeasurement) ping(asker, answerer int, s []int64) clock.Ping {
	of := func(rank int, ns int64) unit.Duration {
		return unit.Duration(ns-m.result.Start[rank]) * unit.Nanosecond
	}
	return clock.Ping{Sent: of(asker, s[0]), Answered: of(answerer, s[1]), Back: of(asker, s[2])}
}

func (m *clockMeasurement) roundTrips() error {
	m.report("%d round trips", m.o.RoundTrips)
	values, err := m.job.stamps(3*m.o.RoundTrips, "pings", 0, 0, m.o.RoundTrips, 1)
	if err != nil {
		return err
	}
	for i := 0; i < len(values); i += 3 {
		m.result.RoundTrips = append(m.result.RoundTrips, m.ping(0, 1, values[i:]))
	}
	m.result.Choice = choices(roundTrips(m.result.RoundTrips))
	return nil
}

// scheme runs one of the schemes among the first so many ranks.
func (m *clockMeasurement) scheme(name string, ranks int) (*Comparison, error) {
	values, err := m.job.stamps(-1, name, m.o.Patience, ranks, m.o.MostPings, 0)
	if err != nil {
		return nil, err
	}
	bad := fmt.Errorf("%w about a %s", errAnswer, name)
	if len(values) == 0 {
		return nil, bad
	}
	c := &Comparison{Took: time.Duration(values[0])}
	for rest := values[1:]; len(rest) > 0; {
		if len(rest) < 4 {
			return nil, bad
		}
		e, n := Edge{Asker: int(rest[0]), Answerer: int(rest[1]), Round: int(rest[2])}, rest[3]
		rest = rest[4:]
		if e.Asker < 0 || e.Asker >= ranks || e.Answerer < 0 || e.Answerer >= ranks || n < 1 || int64(len(rest)) < 3*n {
			return nil, bad
		}
		for i := range n {
			e.Pings = append(e.Pings, m.ping(e.Asker, e.Answerer, rest[3*i:]))
		}
		rest = rest[3*n:]
		c.Edges = append(c.Edges, e)
	}
	if len(c.Edges) != ranks-1 {
		return nil, bad
	}
	return c, nil
}

// schemeRuns is how often each scheme is timed for a number of ranks; the shortest run counts.
const schemeRuns = 3

// schemes times both schemes for 2, 4, 8 ... and all ranks.
func (m *clockMeasurement) schemes() error {
	if !m.o.ProcessSets {
		return nil
	}
	for ranks := 2; ; ranks = min(2*ranks, m.result.Ranks) {
		m.report("both schemes with %d ranks", ranks)
		t := SchemeTime{Ranks: ranks, Tree: math.MaxInt64, Linear: math.MaxInt64}
		for range schemeRuns {
			a, err := m.scheme("tree", ranks)
			if err != nil {
				return err
			}
			b, err := m.scheme("linear", ranks)
			if err != nil {
				return err
			}
			t.Tree, t.Linear = min(t.Tree, a.Took), min(t.Linear, b.Took)
		}
		m.result.Times = append(m.result.Times, t)
		if ranks == m.result.Ranks {
			return nil
		}
	}
}

// sleep waits until a time, or the end of the context.
func (m *clockMeasurement) sleep(until time.Time) error {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-m.ctx.Done():
		return context.Cause(m.ctx)
	}
}

// compare runs the schemes at all moments.
func (m *clockMeasurement) compare() error {
	start := time.Now()
	for k := range m.o.Moments {
		at := start.Add(time.Duration(float64(m.o.Duration) * float64(k) / float64(m.o.Moments-1)))
		m.report("comparison %d of %d", k+1, m.o.Moments)
		if err := m.sleep(at); err != nil {
			return err
		}
		c, err := m.scheme("tree", m.result.Ranks)
		if err != nil {
			return err
		}
		m.result.Moments = append(m.result.Moments, c)
		if !m.o.LinearToo {
			continue
		}
		if c, err = m.scheme("linear", m.result.Ranks); err != nil {
			return err
		}
		m.result.Linear = append(m.result.Linear, c)
	}
	return nil
}

// later compares rank 0 with all others once more, to check the corrections.
func (m *clockMeasurement) later() error {
	m.report("waiting for %s", m.o.Wait)
	if err := m.sleep(time.Now().Add(m.o.Wait)); err != nil {
		return err
	}
	c, err := m.scheme("linear", m.result.Ranks)
	m.result.Later = c
	return err
}

// roundTrips are the round trips of pings in ns.
func roundTrips(pings []clock.Ping) []float64 {
	list := make([]float64, len(pings))
	for i, p := range pings {
		list[i] = float64(p.RoundTrip()) / float64(unit.Nanosecond)
	}
	return list
}
