package waits

import (
	"slackline/analyze/devices"
	"slackline/analyze/profile"
	"slackline/model/unit"
)

// Document is a result in JSON. The names and meanings of its members stay as they are: other programs rely on them.
type Document struct {
	Waits  []Wait         `json:"waits"`
	Delays []Delay        `json:"delays"`
	Totals TotalsDocument `json:"totals"`
	Classes
	NotAnalyzed UnanalyzedDocument `json:"not_analyzed"` // MPI time of calls that no rule understands: neither waiting nor transfer
}

// TotalsDocument are the sums over all ranks and call paths.
type TotalsDocument struct {
	Waiting      unit.Duration            `json:"waiting_s"`
	Delay        unit.Duration            `json:"delay_s"`
	Unattributed unit.Duration            `json:"unattributed_s"`
	Uncertain    unit.Duration            `json:"uncertain_s"`
	States       int                      `json:"states"`
	Cyclic       int                      `json:"cyclic,omitempty"`
	ByMetric     map[Metric]unit.Duration `json:"by_metric" unit:"s"`
	Forward      bool                     `json:"forward,omitempty"` // without causes: delays and classes are not known, not 0
}

// Details are the rest of a result in JSON.
type Details struct {
	Ranking      []RankedDelay    `json:"ranking"`
	Completions  []CompletionTime `json:"completions,omitempty"`
	ByThread     []ThreadWait     `json:"waits_by_thread,omitempty"` // of runs with threads
	Threads      []ThreadTime     `json:"openmp,omitempty"`
	Devices      []devices.Use    `json:"devices,omitempty"` // of runs with accelerators
	CriticalPath *CriticalPath    `json:"critical_path,omitempty"`
	Explanations []*Explanation   `json:"explanations,omitempty"`
}

// RankedDelay is a delay by its cost: what is worth changing, the most expensive first.
type RankedDelay struct {
	profile.Place
	Cost  unit.Duration `json:"cost_s"`
	Share float64       `json:"share"`
}

// Document returns the waits, delays and totals in their JSON form.
func (r *Result) Document() Document {
	t := &r.Totals
	d := Document{
		Waits: append([]Wait{}, r.Waits...), Delays: append([]Delay{}, r.Delays...), Classes: t.Waiting.Classes,
		NotAnalyzed: r.NotAnalyzed(),
		Totals:      TotalsDocument{t.Waiting.Amount, t.Delay.Sum(), t.Unattributed, t.Uncertain, r.States, r.Cyclic, map[Metric]unit.Duration{}, r.Forward},
	}
	for _, m := range r.Occurring() {
		d.Totals.ByMetric[m] = t.ByMetric[m].Amount
	}
	return d
}

// Details returns the rest of the result in its JSON form, with a critical path and explanations if there are any.
func (r *Result) Details(critical *CriticalPath, explanations []*Explanation) Details {
	d := Details{Ranking: []RankedDelay{}, Completions: r.Completions, Threads: r.Threads, Devices: r.Devices, CriticalPath: critical, Explanations: explanations}
	for _, delay := range r.RankedDelays() {
		d.Ranking = append(d.Ranking, RankedDelay{delay.Place, delay.Sum(), r.Share(delay.Sum())})
	}
	if len(r.Timeline.Locations) > r.Timeline.Ranks {
		d.ByThread = r.ThreadWaits()
	}
	return d
}
