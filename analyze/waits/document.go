package waits

import (
	"slackline/analyze/profile"
	"slackline/model/unit"
)

// Document is a result in JSON. The names and meanings of its members stay as they are: other programs rely on them.
type Document struct {
	Waits  []WaitDocument  `json:"waits"`
	Delays []DelayDocument `json:"delays"`
	Totals TotalsDocument  `json:"totals"`
	SplitDocument
}

// SplitDocument is waiting time in the two ways to classify it.
type SplitDocument struct {
	Direct      unit.Seconds `json:"direct_s"`
	Indirect    unit.Seconds `json:"indirect_s"`
	Propagating unit.Seconds `json:"propagating_s"`
	Terminal    unit.Seconds `json:"terminal_s"`
}

// WaitDocument is the waiting time of a metric, rank and call path.
type WaitDocument struct {
	Metric string `json:"metric"`
	profile.PlaceTime
	SplitDocument
	Count     int64        `json:"count"`
	Uncertain unit.Seconds `json:"uncertain_s,omitempty"`
}

// CostDocument is waiting time that something caused.
type CostDocument struct {
	Short unit.Seconds `json:"short_s"`
	Long  unit.Seconds `json:"long_s"`
}

// DelayDocument is what a call path on a rank costs others.
type DelayDocument struct {
	profile.Place
	CostDocument
	ByWait map[string]CostDocument `json:"by_wait"`
}

// TotalsDocument are the sums over all ranks and call paths.
type TotalsDocument struct {
	Waiting      unit.Seconds            `json:"waiting_s"`
	Delay        unit.Seconds            `json:"delay_s"`
	Unattributed unit.Seconds            `json:"unattributed_s"`
	Uncertain    unit.Seconds            `json:"uncertain_s"`
	States       int                     `json:"states"`
	Cyclic       int                     `json:"cyclic,omitempty"`
	ByMetric     map[string]unit.Seconds `json:"by_metric"`
}

// Details are the rest of a result in JSON.
type Details struct {
	Ranking      []RankedDocument      `json:"ranking"`
	Completions  []CompletionDocument  `json:"completions,omitempty"`
	ByThread     []ThreadDocument      `json:"waits_by_thread,omitempty"` // of runs with threads
	Threads      []ThreadTimeDocument  `json:"openmp,omitempty"`
	CriticalPath *CriticalDocument     `json:"critical_path,omitempty"`
	Explanations []ExplanationDocument `json:"explanations,omitempty"`
}

// RankedDocument is a delay by its cost: what is worth changing, the most expensive first.
type RankedDocument struct {
	profile.Place
	Cost  unit.Seconds `json:"cost_s"`
	Share float64      `json:"share"`
}

// CompletionDocument is the completion time of a rank and call path.
type CompletionDocument struct {
	Kind string `json:"kind"`
	profile.PlaceTime
}

// ThreadDocument is the waiting time of one thread.
type ThreadDocument struct {
	Metric   string       `json:"metric"`
	Rank     int          `json:"rank"`
	Thread   int          `json:"thread"`
	CallPath string       `json:"callpath"`
	Seconds  unit.Seconds `json:"seconds"`
}

// ThreadTimeDocument is what a process loses to its threads beside wait states.
type ThreadTimeDocument struct {
	Rank       int          `json:"rank"`
	Limited    unit.Seconds `json:"limited_parallelism_s"`
	Management unit.Seconds `json:"management_s"`
}

// CriticalDocument is the critical path.
type CriticalDocument struct {
	Length   unit.Seconds           `json:"length_s"`
	Missing  unit.Seconds           `json:"missing_s"`
	Profile  []profile.PlaceTime    `json:"profile"`
	Paths    []CriticalTimeDocument `json:"callpaths"`
	Segments []SegmentDocument      `json:"segments"`
}

// CriticalTimeDocument compares the time of a call path on the critical path with what it takes on average.
type CriticalTimeDocument struct {
	CallPath  string       `json:"callpath"`
	Seconds   unit.Seconds `json:"seconds"`
	Average   unit.Seconds `json:"average_s"`
	Imbalance unit.Seconds `json:"imbalance_s"`
}

// SegmentDocument is a part of the critical path at one location.
type SegmentDocument struct {
	Rank   int          `json:"rank"`
	Thread int          `json:"thread"`
	From   unit.Seconds `json:"from_s"`
	To     unit.Seconds `json:"to_s"`
	After  string       `json:"after,omitempty"` // the wait state that the segment before it ended
}

// ExplanationDocument is why waiting happened.
type ExplanationDocument struct {
	Metric string `json:"metric"`
	profile.PlaceTime
	Count  int64               `json:"count"`
	Causes []CauseDocument     `json:"causes"`
	Roots  []profile.PlaceTime `json:"roots,omitempty"`
	Text   []string            `json:"text,omitempty"` // of the outermost explanation
}

// CauseDocument is one reason why a rank came late.
type CauseDocument struct {
	Kind string `json:"kind"`
	profile.Place
	Metric  string               `json:"metric,omitempty"` // of waits
	Seconds unit.Seconds         `json:"seconds"`
	Because *ExplanationDocument `json:"because,omitempty"`
}

func (s *Split) document() SplitDocument {
	return SplitDocument{unit.Seconds(s.Direct), unit.Seconds(s.Indirect), unit.Seconds(s.Propagating), unit.Seconds(s.Terminal)}
}

func (c Cost) document() CostDocument {
	return CostDocument{unit.Seconds(c.Short), unit.Seconds(c.Long)}
}

// Document returns the waits, delays and totals in their JSON form.
func (r *Result) Document() Document {
	t := &r.Totals
	d := Document{
		Waits: make([]WaitDocument, 0, len(r.Waits)), Delays: make([]DelayDocument, 0, len(r.Delays)),
		Totals: TotalsDocument{
			Waiting: unit.Seconds(t.Waiting.Amount), Delay: unit.Seconds(t.Delay.Sum()), Unattributed: unit.Seconds(t.Unattributed),
			Uncertain: unit.Seconds(t.Uncertain), States: r.States, Cyclic: r.Cyclic, ByMetric: map[string]unit.Seconds{},
		},
		SplitDocument: t.Waiting.document(),
	}
	for i := range r.Waits {
		w := &r.Waits[i]
		d.Waits = append(d.Waits, WaitDocument{
			w.Metric.String(), r.Paths.PlaceTime(w.Rank, w.Path, w.Amount), w.document(), w.Count, unit.Seconds(w.Uncertain),
		})
	}
	for _, m := range r.Occurring() {
		d.Totals.ByMetric[m.String()] = unit.Seconds(t.ByMetric[m].Amount)
	}
	for i := range r.Delays {
		delay := &r.Delays[i]
		byWait := map[string]CostDocument{}
		for m, c := range delay.ByWait {
			if c.Sum() > 0 {
				byWait[Metric(m).String()] = c.document()
			}
		}
		d.Delays = append(d.Delays, DelayDocument{r.Paths.Place(delay.Rank, delay.Path), delay.document(), byWait})
	}
	return d
}

// Details returns the rest of the result in its JSON form, with a critical path and explanations if there are any.
func (r *Result) Details(critical *CriticalPath, explanations []*Explanation) Details {
	d := Details{Ranking: make([]RankedDocument, 0, len(r.Delays))}
	for _, delay := range r.RankedDelays() {
		d.Ranking = append(d.Ranking, RankedDocument{r.Paths.Place(delay.Rank, delay.Path), unit.Seconds(delay.Sum()), r.Share(delay.Sum())})
	}
	for _, c := range r.Completions {
		d.Completions = append(d.Completions, CompletionDocument{c.Kind.String(), r.Paths.PlaceTime(c.Rank, c.Path, c.Time)})
	}
	if len(r.Timeline.Locations) > r.Timeline.Ranks {
		for _, w := range r.ThreadWaits() {
			d.ByThread = append(d.ByThread, ThreadDocument{w.Metric.String(), w.Rank, w.Thread, r.Paths.Names[w.Path], unit.Seconds(w.Amount)})
		}
	}
	for _, t := range r.Threads {
		d.Threads = append(d.Threads, ThreadTimeDocument{t.Rank, unit.Seconds(t.Limited), unit.Seconds(t.Management)})
	}
	if critical != nil {
		d.CriticalPath = critical.document(r)
	}
	for _, e := range explanations {
		x := e.document(r.Paths)
		for _, s := range e.Sentences(r.Paths) {
			x.Text = append(x.Text, s.Text)
		}
		d.Explanations = append(d.Explanations, *x)
	}
	return d
}

func (c *CriticalPath) document(r *Result) *CriticalDocument {
	d := &CriticalDocument{
		Length: unit.Seconds(c.Length), Missing: unit.Seconds(c.Missing),
		Profile: []profile.PlaceTime{}, Paths: []CriticalTimeDocument{}, Segments: []SegmentDocument{},
	}
	for _, s := range c.Shares {
		d.Profile = append(d.Profile, r.Paths.PlaceTime(s.Rank, s.Path, s.Time))
	}
	for _, p := range c.Paths {
		d.Paths = append(d.Paths, CriticalTimeDocument{r.Paths.Names[p.Path], unit.Seconds(p.Time), unit.Seconds(p.Average), unit.Seconds(p.Imbalance)})
	}
	for _, s := range c.Segments {
		l := &r.Timeline.Locations[s.Location]
		segment := SegmentDocument{Rank: l.Rank, Thread: l.Thread, From: unit.Seconds(s.From), To: unit.Seconds(s.To)}
		if s.Metric != None {
			segment.After = s.Metric.String()
		}
		d.Segments = append(d.Segments, segment)
	}
	return d
}

func (e *Explanation) document(p *profile.Paths) *ExplanationDocument {
	d := &ExplanationDocument{Metric: e.Metric.String(), PlaceTime: p.PlaceTime(e.Rank, e.Path, e.Amount), Count: e.Count}
	for i := range e.Causes {
		c := &e.Causes[i]
		cause := CauseDocument{Kind: c.Kind.String(), Place: p.Place(c.Rank, c.Path), Seconds: unit.Seconds(c.Share)}
		if c.Kind == Waited {
			cause.Metric = c.Metric.String()
		}
		if c.Because != nil {
			cause.Because = c.Because.document(p)
		}
		d.Causes = append(d.Causes, cause)
	}
	for _, root := range e.Roots {
		d.Roots = append(d.Roots, p.PlaceTime(root.Rank, root.Path, root.Share))
	}
	return d
}
