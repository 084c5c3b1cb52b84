// Package waits finds where ranks and threads wait, and what causes it.
//
// The forward pass finds the wait states of a timeline, recorded or simulated: calls in which a location sat
// idle because another one came late. The backward pass charges their time to its causes: call paths in
// which the other one spent more time since the two last synchronized, directly or through its own waits.
// The sum of all costs, what has no cause included, is the sum of all waits, exactly, in whole
// picoseconds; results depend neither on the number of threads nor on the order of inputs.
//
// Clocks must be brought together first. Where they still contradict causality the rest is analyzed.
// Nothing is read, written or printed here.
package waits

import (
	"cmp"
	"context"
	"slices"

	"slackline/analyze/devices"
	"slackline/analyze/profile"
	"slackline/model/missing"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Options of an analysis; the zero value works.
type Options struct {
	Threads int // 0: one
	// Forward leaves out the backward pass: the result has the wait states, but no delays, and neither direct nor
	// propagating waits; they cannot be explained.
	Forward bool
	// Paths and Windows of the run, if the caller has them already; nil: they are made.
	Paths   *profile.Paths
	Windows *profile.Windows
	// Progress, if not nil, is called again and again with the part that is done, up to 1; at times by several threads at once.
	Progress func(done float64)
}

// Result is what was found out about a run.
type Result struct {
	Timeline *timeline.Timeline
	Paths    *profile.Paths

	Waits  []Wait  // by name of the metric, rank, call path
	Delays []Delay // by rank, call path
	Totals Totals

	Unanalyzed  []Unanalyzed     // by rank, call path
	Completions []CompletionTime // by kind, rank, call path
	Threads     []ThreadTime     // of ranks with parallel regions
	Devices     []devices.Use    // what devices did with their time, by rank and device
	States      int              // number of wait states
	Cyclic      int              // wait states that depend on each other in circles: the clocks are wrong
	Forward     bool             // it is without causes

	byThread []ThreadWait // of parts: what was gathered

	a *analysis
}

// Split is a sum of waiting time in the two ways to classify it. Each pair sums up to the amount.
type Split struct {
	Amount unit.Sum `json:"seconds"`
	Classes
}

// Classes are the two ways to classify waiting time.
type Classes struct {
	Direct      unit.Sum `json:"direct_s"`      // caused by what the other one did
	Indirect    unit.Sum `json:"indirect_s"`    // caused by waits of the other one
	Propagating unit.Sum `json:"propagating_s"` // caused waits of others later
	Terminal    unit.Sum `json:"terminal_s"`    // caused none
}

func (s *Split) add(amount, indirect, propagating unit.Sum) {
	s.Amount.AddSum(amount)
	s.Indirect.AddSum(indirect)
	s.Direct.AddSum(amount.Minus(indirect))
	s.Propagating.AddSum(propagating)
	s.Terminal.AddSum(amount.Minus(propagating))
}

func (s *Split) addAll(o *Split) { s.add(o.Amount, o.Indirect, o.Propagating) }

// Wait is the waiting time of a metric, rank and call path.
type Wait struct {
	Metric Metric `json:"metric"`
	PartOf Metric `json:"part_of,omitzero"` // of a sub-state: the wait state whose time has it already
	profile.Place
	Stream string `json:"stream,omitempty"` // of a device: where it is seen
	Split
	Count     int64    `json:"count"`
	Uncertain unit.Sum `json:"uncertain_s,omitzero"` // in wait states that are shorter than the error of the clocks
}

// Cost is waiting time that something caused: directly, and through waits that it caused.
type Cost struct {
	Short unit.Sum `json:"short_s"`
	Long  unit.Sum `json:"long_s"`
}

// Sum is the whole cost.
func (c Cost) Sum() unit.Sum { return c.Short.Plus(c.Long) }

func (c *Cost) add(o Cost) {
	c.Short.AddSum(o.Short)
	c.Long.AddSum(o.Long)
}

// Delay is what a call path on a rank costs others.
type Delay struct {
	profile.Place
	Cost
	ByWait Costs `json:"by_wait"`
}

// Costs are those by the metric of the wait state that was caused, in the order of the metrics.
type Costs []MetricCost

// MetricCost is what wait states of a metric cost.
type MetricCost struct {
	Metric Metric
	Cost
}

// Of is what wait states of a metric cost.
func (c Costs) Of(m Metric) Cost {
	if i, ok := c.find(m); ok {
		return c[i].Cost
	}
	return Cost{}
}

func (c Costs) find(m Metric) (int, bool) {
	return slices.BinarySearchFunc(c, m, func(x MetricCost, m Metric) int { return cmp.Compare(x.Metric, m) })
}

func (c *Costs) add(m Metric, cost Cost) {
	i, ok := c.find(m)
	if !ok {
		*c = slices.Insert(*c, i, MetricCost{Metric: m})
	}
	(*c)[i].Cost.add(cost)
}

// JSONValue returns the costs by metric, for JSON.
func (c Costs) JSONValue() any {
	costs := map[Metric]Cost{}
	for _, x := range c {
		if x.Sum().Sign() > 0 {
			costs[x.Metric] = x.Cost
		}
	}
	return costs
}

// CompletionTime is the completion time of a rank and call path.
type CompletionTime struct {
	Kind Completion `json:"kind"`
	profile.Place
	Time unit.Sum `json:"seconds"`
}

// Totals are the sums over all ranks and call paths. Waiting.Amount = Delay.Sum() + Unattributed.
type Totals struct {
	Waiting      Split
	ByMetric     [None]Split // sub-states are parts of their parents
	Delay        Cost
	Unattributed unit.Sum // waiting time without cause: the two had never synchronized before
	Uncertain    unit.Sum
}

// Analyze finds the wait states of a run and their causes.
func Analyze(ctx context.Context, tl *timeline.Timeline, o Options) (*Result, error) {
	a := &analysis{tl: tl.WithStreams(), hosts: len(tl.Locations), threads: max(o.Threads, 1), part: tl.Part, causeless: o.Forward,
		paths: o.Paths, windows: o.Windows, meter: meter{report: o.Progress}}
	if tl.Devices != nil {
		a.windows = nil // streams are not among those of the caller
	}
	if err := a.prepare(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.forward()
	if tl.Devices != nil {
		a.addDevices(tl)
	}
	if a.part != nil {
		if err := a.numberAll(ctx); err != nil {
			return nil, err
		}
	}
	sums, err := &account{}, error(nil)
	if !a.causeless {
		if sums, err = a.runBackward(ctx); err != nil {
			return nil, err
		}
	}
	r := a.result(sums)
	if a.part != nil {
		err = r.gather(ctx, sums)
	} else {
		r.sumDelays(&sums.costs)
	}
	r.name()
	if a.causeless {
		r.declassify()
	}
	return r, err
}

// declassify takes out the classes of waits, which only the backward pass finds.
func (r *Result) declassify() {
	r.Forward = true
	r.Totals.Waiting.Classes = Classes{}
	for m := range r.Totals.ByMetric {
		r.Totals.ByMetric[m].Classes = Classes{}
	}
	for i := range r.Waits {
		r.Waits[i].Classes = Classes{}
	}
}

// name names the call paths of what was summed, and what sub-states are parts of.
func (r *Result) name() {
	for i := range r.Waits {
		w := &r.Waits[i]
		w.Name(r.Paths)
		w.PartOf = w.Metric.Parent()
	}
	for i := range r.Delays {
		r.Delays[i].Name(r.Paths)
	}
	for i := range r.Completions {
		r.Completions[i].Name(r.Paths)
	}
	for i := range r.Unanalyzed {
		r.Unanalyzed[i].Name(r.Paths)
	}
}

// Profile returns the call-path profile of the run.
func (r *Result) Profile() *profile.Profile {
	return profile.With(r.Timeline, r.Paths, r.a.windows, profile.Options{Threads: r.a.threads})
}

// Iterations finds the iterations of the run with the waiting times of their masters. If several processes share the run,
// all of them call it; process 0 gets the iterations, nil if there are none, the others nil.
func (r *Result) Iterations(ctx context.Context, p *profile.Profile) (*profile.Iterations, error) {
	return p.FindIterations(ctx, func(add func(rank int, at, amount unit.Duration)) {
		r.EachState(func(s *State) {
			if s.Thread == 0 {
				add(s.Rank, s.At, s.Amount)
			}
		})
	})
}

// Missing is what is missing of the run, or wrong with its clocks.
func (r *Result) Missing() missing.Parts {
	m := r.Timeline.Missing()
	m.Circles = r.Cyclic
	return m
}

// WaitTimes returns the waiting times of threads, and the times that were not analyzed, in the form that a composition takes.
func (r *Result) WaitTimes() []profile.WaitTime {
	var list []profile.WaitTime
	for i := range r.Waits {
		if w := &r.Waits[i]; !w.Metric.IsPart() && w.Stream == "" { // streams are no threads
			idle := w.Metric == openMPIdle.metric
			list = append(list, profile.WaitTime{Name: w.Metric.String(), Rank: w.Rank, Path: w.Path, Time: w.Amount, Idle: idle})
		}
	}
	for i := range r.Unanalyzed {
		u := &r.Unanalyzed[i]
		list = append(list, profile.WaitTime{Rank: u.Rank, Path: u.Path, Time: u.Time, Unknown: true})
	}
	return list
}
