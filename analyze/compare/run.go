// Package compare sets runs side by side: which numbers of them changed, whether that is more than chance, and what
// conditions on the changes say. It does not know where the numbers come from.
package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"slackline/analyze/waits"
	"slackline/internal/jsonkeys"
	"slackline/internal/plain"
	"slackline/internal/suggest"
	"slackline/model/dataset"
	"slackline/model/missing"
	"slackline/model/unit"
)

// Number names a number of a run: a metric, of a call path or (without one) of the whole run.
type Number struct {
	Metric string `json:"metric"`
	Path   string `json:"callpath"`
}

// Run has the numbers of one run, in seconds but for those that were counted.
type Run struct {
	Values map[Number]float64
	Kinds  Kinds // what is not mentioned of these is 0, of others it was not measured

	Ranks   float64           // 0: not known
	How     map[string]string // how the numbers of a metric were measured, if there are several ways
	Missing missing.Parts
	kept    float64 // of the start and the end of MPI, in seconds
	left    bool    // they were left out
}

// KeepsStart reports whether the start and the end of MPI are in the run.
func (r Run) KeepsStart() bool { return r.kept > 0 }

// NewRun returns a run without numbers.
func NewRun(kinds Kinds) Run { return Run{Values: map[Number]float64{}, Kinds: kinds} }

func (r Run) add(metric, path string, seconds float64) { r.Values[Number{metric, path}] += seconds }

// addWait adds waiting time. A sub-state is part of another wait state, and not counted twice.
func (r Run) addWait(metric, path string, part bool, seconds float64) {
	r.add(metric, path, seconds)
	if !part {
		r.add(Waiting, path, seconds)
		r.add(Waiting, "", seconds)
	}
}

// Kinds are kinds of numbers, a bit for each.
type Kinds int

// The kinds of numbers that a run may have.
const (
	Times Kinds = 1 << iota
	Waits
	Delays
)

// The metrics that are not those of wait states.
const (
	RunTime = "run_time"
	Time    = "time"
	Waiting = "waiting"
	Delay   = "delay"
)

// metrics are the metrics of runs.
func metrics() []string {
	return append([]string{RunTime, Time, Waiting, Delay, UsefulTime, Instructions, IPC, Frequency}, waitStates()...)
}

// waitStates are the metrics of wait states.
func waitStates() (list []string) {
	for _, m := range waits.Metrics() {
		list = append(list, m.String())
	}
	return list
}

// kindOf is the kind of a metric; 0: the run as a whole, or a point that a measurement has or has not.
func kindOf(metric string) Kinds {
	switch metric {
	case Time:
		return Times
	case Delay:
		return Delays
	}
	if ofWhole(metric) {
		return 0
	}
	if slices.Contains(metrics(), metric) {
		return Waits
	}
	return 0
}

// Of returns the numbers of a run from its wait states.
func Of(w *waits.Result) Run {
	r, p := NewRun(Times|Waits|Delays), w.Profile()
	r.Ranks, r.Missing = float64(w.Timeline.Ranks), w.Missing()
	if r.left = w.Timeline.LeftOut.Any(); !r.left {
		start := w.Timeline.MPIStart()
		r.kept = unit.SumOf(start.Before + start.After).InSeconds()
	}
	name := func(path int32) string { return p.Paths.Names[path] }
	r.add(RunTime, "", unit.SumOf(p.RunTime()).InSeconds())
	r.countsOf(p.Counts(w.WaitTimes()))
	for i := range p.ByPath {
		r.add(Time, name(p.ByPath[i].Path), p.ByPath[i].Exclusive.InSeconds())
	}
	for i := range w.Waits {
		x := &w.Waits[i]
		r.addWait(x.Metric.String(), name(x.Path), x.Metric.IsPart(), x.Amount.InSeconds())
	}
	for i := range w.Delays {
		r.add(Delay, name(w.Delays[i].Path), w.Delays[i].Sum().InSeconds())
	}
	return r
}

// document is what is taken from the JSON results of the verbs waits and profile, of all versions.
type document struct {
	Run         *missing.Reported `json:"run"`
	Computation *struct {
		Useful       float64 `json:"useful_s"`
		Instructions float64 `json:"useful_instructions"`
		IPC          float64 `json:"ipc"`
		Frequency    float64 `json:"frequency_hz"`
	} `json:"computation"`
	Waits []struct {
		Number
		Seconds *float64 `json:"seconds"`
	} `json:"waits"`
	Delays []struct {
		Path  string   `json:"callpath"`
		Short *float64 `json:"short_s"`
		Long  *float64 `json:"long_s"`
	} `json:"delays"`
	Totals struct {
		Cyclic  int  `json:"cyclic"`
		Forward bool `json:"forward"` // its delays are not known
	} `json:"totals"`
	CallPaths []struct {
		Path      string   `json:"callpath"`
		Exclusive *float64 `json:"exclusive_s"`
	} `json:"callpaths"`
}

// Read returns the numbers of a JSON result of the verbs waits or profile.
func Read(data []byte) (Run, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			err = fmt.Errorf("line %d: %s is a %s", 1+bytes.Count(data[:min(kind.Offset, int64(len(data)))], []byte{'\n'}), kind.Field, kind.Value)
		}
		return Run{}, err
	}
	if err := jsonkeys.Check(data, &d); err != nil {
		return Run{}, err
	}
	if d.Run == nil || d.Run.Time == nil {
		return Run{}, errors.New("expected a JSON result of waits, profile or measure collectives")
	}
	var damaged error
	amount := func(metric, key, path string, v *float64) float64 {
		switch {
		case v == nil:
			damaged = cmp.Or(damaged, fmt.Errorf("%s%s has no %s", metric, at(path), key))
			return 0
		case *v < 0: // a gate would pass on it
			damaged = cmp.Or(damaged, fmt.Errorf("%s%s is %g, below 0", metric, at(path), *v))
		}
		return *v
	}
	if err := d.Run.Complete(d.Totals.Cyclic); err != nil {
		return Run{}, err
	}
	if err := dataset.CheckSums(data); err != nil {
		return Run{}, err
	}
	r := NewRun(0)
	r.Ranks = d.Run.OfRanks
	r.Missing, r.kept, r.left = d.Run.Parts, d.Run.Kept(), d.Run.Left()
	r.add(RunTime, "", *d.Run.Time)
	if c := d.Computation; c != nil {
		r.addCounts(c.Useful, c.Instructions, c.IPC, c.Frequency)
	}
	if d.Waits != nil {
		r.Kinds |= Waits
	}
	named := func(metric, path string) {
		if path == "" {
			damaged = cmp.Or(damaged, fmt.Errorf("a %s has no callpath", metric))
		}
	}
	for _, w := range d.Waits {
		named(w.Metric, w.Path)
		if waits.ByName(w.Metric) == waits.None { // it would be one that only this side has, and the true one 0
			damaged = cmp.Or(damaged, fmt.Errorf("a wait%s has the metric %q, which is no wait state%s", at(w.Path), w.Metric,
				suggest.Phrase(w.Metric, waitStates())))
		}
		r.addWait(w.Metric, w.Path, waits.ByName(w.Metric).IsPart(), amount(w.Metric, "seconds", w.Path, w.Seconds))
	}
	if d.Delays != nil && !d.Totals.Forward {
		r.Kinds |= Delays
	}
	for _, x := range d.Delays {
		named(Delay, x.Path)
		r.add(Delay, x.Path, amount(Delay, "short_s", x.Path, x.Short)+amount(Delay, "long_s", x.Path, x.Long))
	}
	if d.CallPaths != nil {
		r.Kinds |= Times
	}
	entries := map[string]int{}
	for i, p := range d.CallPaths {
		named(Time, p.Path)
		if before, twice := entries[p.Path]; twice { // there is one for each, the sum over all ranks
			damaged = cmp.Or(damaged, fmt.Errorf("the call path %s is in callpaths twice (entries %d and %d, from 1): write the result again",
				plain.Name(p.Path), before+1, i+1))
		}
		entries[p.Path] = i
		r.add(Time, p.Path, amount(Time, "exclusive_s", p.Path, p.Exclusive))
	}
	for n, v := range r.Values {
		if math.IsInf(v, 0) {
			damaged = cmp.Or(damaged, fmt.Errorf("the sum of %s%s is too large", n.Metric, at(n.Path)))
		}
	}
	return r, damaged
}
