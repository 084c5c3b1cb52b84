package waits

import (
	"cmp"
	"slices"

	"slackline/analyze/devices"
	"slackline/analyze/profile"
	"slackline/model/unit"
)

// Spread is how a time is spread over ranks.
type Spread struct {
	Ranks int // that have some
	Worst int // the rank that has most
	Most  unit.Sum
}

func (s *Spread) add(rank int, d unit.Sum) {
	s.Ranks++
	if d.Cmp(s.Most) > 0 {
		s.Worst, s.Most = rank, d
	}
}

// WaitSum is the waiting time of a wait state in a call path, summed over ranks.
type WaitSum struct {
	Metric Metric
	Path   int32
	Split
	Spread
	Share float64 // of all waiting time
}

// WaitsByPath sums the waits over ranks, the longest first. Sub-states are left out.
func (r *Result) WaitsByPath() []WaitSum {
	type key struct {
		metric Metric
		path   int32
	}
	index := map[key]int{}
	var all []WaitSum
	for i := range r.Waits {
		w := &r.Waits[i]
		if w.Metric.IsPart() {
			continue
		}
		k, known := index[key{w.Metric, w.Path}]
		if !known {
			k = len(all)
			index[key{w.Metric, w.Path}] = k
			all = append(all, WaitSum{Metric: w.Metric, Path: w.Path})
		}
		all[k].addAll(&w.Split)
		all[k].Spread.add(w.Rank, w.Amount)
	}
	for i := range all {
		all[i].Share = r.Share(all[i].Amount)
	}
	slices.SortStableFunc(all, func(x, y WaitSum) int { return y.Amount.Cmp(x.Amount) })
	return all
}

// DelaySum is what a call path costs others, summed over ranks.
type DelaySum struct {
	Delay // its rank is -1
	Spread
}

// DelaysByPath sums the delays over ranks, the costliest first.
func (r *Result) DelaysByPath() []DelaySum {
	sums := make([]DelaySum, r.Paths.Len())
	for i := range r.Delays {
		d := &r.Delays[i]
		s := &sums[d.Path]
		s.Rank, s.Path = -1, d.Path
		s.Cost.add(d.Cost)
		for _, c := range d.ByWait {
			s.ByWait.add(c.Metric, c.Cost)
		}
		s.Spread.add(d.Rank, d.Sum())
	}
	sums = slices.DeleteFunc(sums, func(s DelaySum) bool { return s.Ranks == 0 })
	slices.SortStableFunc(sums, func(x, y DelaySum) int { return y.Sum().Cmp(x.Sum()) })
	return sums
}

// RankedDelays returns the delays by cost, the costliest first.
func (r *Result) RankedDelays() []Delay {
	ranked := slices.Clone(r.Delays)
	slices.SortStableFunc(ranked, func(x, y Delay) int { return y.Sum().Cmp(x.Sum()) })
	return ranked
}

// LongestWaits returns the waits of certain ranks (nil: of all), the longest first. Sub-states are left out.
func (r *Result) LongestWaits(ranks []int) []*Wait {
	var all []*Wait
	for i := range r.Waits {
		if w := &r.Waits[i]; !w.Metric.IsPart() && (ranks == nil || slices.Contains(ranks, w.Rank)) {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(x, y *Wait) int { return y.Amount.Cmp(x.Amount) })
	return all
}

// Occurring returns the wait states that occur, sub-states included, the longest first.
func (r *Result) Occurring() []Metric {
	amount := func(m Metric) unit.Sum { return r.Totals.ByMetric[m].Amount }
	list := slices.DeleteFunc(Metrics(), func(m Metric) bool { return amount(m).Sign() == 0 })
	slices.SortStableFunc(list, func(x, y Metric) int { return amount(y).Cmp(amount(x)) })
	return list
}

// Share is a part of all waiting time; 0 if there is none.
func (r *Result) Share(s unit.Sum) float64 { return s.Over(r.Totals.Waiting.Amount) }

// RankSum is the waiting time of a rank and the waiting that it caused.
type RankSum struct {
	Split
	Delay unit.Sum
}

// ByRank sums waits and delays over call paths, by rank.
func (r *Result) ByRank() []RankSum {
	sums := make([]RankSum, r.Timeline.Ranks)
	for i := range r.Waits {
		if w := &r.Waits[i]; !w.Metric.IsPart() {
			sums[w.Rank].addAll(&w.Split)
		}
	}
	for i := range r.Delays {
		sums[r.Delays[i].Rank].Delay.AddSum(r.Delays[i].Sum())
	}
	return sums
}

// Longest returns the call paths of the critical path, the longest first.
func (c *CriticalPath) Longest() []CriticalTime {
	list := slices.Clone(c.Paths)
	slices.SortStableFunc(list, func(x, y CriticalTime) int { return cmp.Compare(y.Time, x.Time) })
	return list
}

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
	Waiting      unit.Sum            `json:"waiting_s"`
	Delay        unit.Sum            `json:"delay_s"`
	Unattributed unit.Sum            `json:"unattributed_s"`
	Uncertain    unit.Sum            `json:"uncertain_s"`
	States       int                 `json:"states"`
	Cyclic       int                 `json:"cyclic,omitempty"`
	ByMetric     map[Metric]unit.Sum `json:"by_metric" unit:"s"`
	Forward      bool                `json:"forward,omitempty"` // without causes: delays and classes are not known, not 0
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
	Cost  unit.Sum `json:"cost_s"`
	Share float64  `json:"share"`
}

// Document returns the waits, delays and totals in their JSON form.
func (r *Result) Document() Document {
	t := &r.Totals
	d := Document{
		Waits: append([]Wait{}, r.Waits...), Delays: append([]Delay{}, r.Delays...), Classes: t.Waiting.Classes,
		NotAnalyzed: r.NotAnalyzed(),
		Totals: TotalsDocument{t.Waiting.Amount, t.Delay.Sum(), t.Unattributed, t.Uncertain, r.States, r.Cyclic, map[Metric]unit.Sum{},
			r.Forward},
	}
	for _, m := range r.Occurring() {
		d.Totals.ByMetric[m] = t.ByMetric[m].Amount
	}
	return d
}

// Details returns the rest of the result in its JSON form, with a critical path and explanations if there are any.
func (r *Result) Details(critical *CriticalPath, explanations []*Explanation) Details {
	d := Details{Ranking: []RankedDelay{}, Completions: r.Completions, Threads: r.Threads, Devices: r.Devices, CriticalPath: critical,
		Explanations: explanations}
	for _, delay := range r.RankedDelays() {
		d.Ranking = append(d.Ranking, RankedDelay{delay.Place, delay.Sum(), r.Share(delay.Sum())})
	}
	if len(r.Timeline.Locations) > r.Timeline.Ranks {
		d.ByThread = r.ThreadWaits()
	}
	return d
}
