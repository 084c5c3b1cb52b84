package profile

import (
	"slices"

	"slackline/analyze/waits"
	"slackline/model/unit"
)

// Measurement names a number of a run: a metric, of a call path or (without one) of the whole run.
type Measurement struct{ Metric, Path string }

// Measured are the numbers of one run, in seconds.
type Measured struct {
	Values map[Measurement]float64
	Kinds  KindsMeasured // what is not mentioned of these is 0, of others it was not measured
}

func NewMeasured(kinds KindsMeasured) Measured {
	return Measured{map[Measurement]float64{}, kinds}
}

func (m Measured) add(metric, path string, d unit.Duration) {
	m.Values[Measurement{metric, path}] += float64(d) / float64(unit.Second)
}

// Measured are the numbers of a profile and its waits.
func (r *profileReport) Measured() Measured {
	m := NewMeasured(TimeKind | WaitKind | DelayKind)
	m.add("run_time", "", r.profile.RunTime())
	for i := range r.profile.ByPath {
		e := &r.profile.ByPath[i]
		m.add("time", r.name(e.Path), e.Exclusive)
	}
	for i := range r.waits.Waits {
		w := &r.waits.Waits[i]
		m.add(w.Metric.String(), r.name(w.Path), w.Amount)
		if w.Metric != waits.WrongOrder {
			m.add("waiting", r.name(w.Path), w.Amount)
			m.add("waiting", "", w.Amount)
		}
	}
	for i := range r.waits.Delays {
		d := &r.waits.Delays[i]
		m.add("delay", r.name(d.Path), d.Sum())
	}
	return m
}

// A gate passes only on what it compared. A condition on a number that neither side has, on a call path that one side does
// not have, or on a run in which nothing was recorded is inconclusive; one that no number can ever meet is wrong usage.

// KindsMeasured are the kinds of numbers that a run has, a bit for each.
type KindsMeasured int

const (
	TimeKind KindsMeasured = 1 << iota
	WaitKind
	DelayKind
)

// The metrics that are not those of wait states.
const (
	MetricRunTime = "run_time"
	MetricTime    = "time"
	MetricWaiting = "waiting"
	metricDelay   = "delay"
)

// KindOf is the kind of a metric; 0: the run as a whole, or a point that a measurement has or has not.
func KindOf(metric string) KindsMeasured {
	switch metric {
	case MetricTime:
		return TimeKind
	case metricDelay:
		return DelayKind
	case MetricRunTime:
		return 0
	}
	if slices.Contains(ConditionMetrics(), metric) {
		return WaitKind
	}
	return 0
}

// ConditionMetrics are the metrics that conditions may name.
func ConditionMetrics() []string {
	list := []string{MetricRunTime, MetricTime, MetricWaiting, metricDelay}
	for _, m := range waits.Metrics() {
		list = append(list, m.String())
	}
	return list
}
