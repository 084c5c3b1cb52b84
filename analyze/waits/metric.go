package waits

import (
	"cmp"
	"slices"
)

// Metric is a kind of wait state.
type Metric uint8

// The metrics. WrongOrder is a part of LateSender; no wait state has it as its metric.
const (
	LateSender Metric = iota
	LateReceiver
	Barrier
	NxN
	LateBroadcast
	EarlyReduce
	EarlyScan
	Finalize
	OpenMPBarrier
	OpenMPIdle
	WrongOrder
	noMetric
)

// stateMetrics is the number of metrics that wait states can have.
const stateMetrics = int(WrongOrder)

// Info says what a metric means, for people.
type Info struct {
	Name    string // as in results, e.g. late_sender
	Title   string // e.g. Late sender
	Short   string // half a sentence: what the waiting location does
	Because string // why, with %s for the causing location: "%s sent late"
	Meaning string // what is measured, and who is held responsible
	Advice  string // what usually helps
}

// infos is the list of all metrics; each is described in a file of its own.
var infos = [noMetric]*Info{
	LateSender:    &lateSenderInfo,
	LateReceiver:  &lateReceiverInfo,
	Barrier:       &barrierInfo,
	NxN:           &nxnInfo,
	LateBroadcast: &lateBroadcastInfo,
	EarlyReduce:   &earlyReduceInfo,
	EarlyScan:     &earlyScanInfo,
	Finalize:      &finalizeInfo,
	OpenMPBarrier: &openMPBarrierInfo,
	OpenMPIdle:    &openMPIdleInfo,
	WrongOrder:    &wrongOrderInfo,
}

// Info returns what the metric means.
func (m Metric) Info() *Info { return infos[m] }

// String returns the name of the metric.
func (m Metric) String() string {
	if m < noMetric {
		return infos[m].Name
	}
	return "none"
}

// Metrics returns all metrics, by name.
func Metrics() []Metric {
	all := make([]Metric, 0, noMetric)
	for m := range noMetric {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Metric) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// precedence decides between causes of the same amount in one call: messages that were not there come
// first, then collectives, then receivers that were not ready.
func (m Metric) precedence() int {
	switch m {
	case LateSender:
		return 0
	case LateReceiver:
		return 2
	}
	return 1
}
