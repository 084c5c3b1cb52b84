package waits

import (
	"encoding/json"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/cli/phrase"
	"slackline/cli/scenario"
	"slackline/internal/provenance"
	"slackline/internal/table"
)

// waitsJSON is the JSON output of waits. The names and meanings of its members stay as they are: other programs
// rely on them.
type waitsJSON struct {
	Waits        []WaitJSON           `json:"waits"`
	Delays       []DelayJSON          `json:"delays"`
	Totals       waitTotalsJSON       `json:"totals"`
	Direct       json.Number          `json:"direct_s"`
	Indirect     json.Number          `json:"indirect_s"`
	Propagating  json.Number          `json:"propagating_s"`
	Terminal     json.Number          `json:"terminal_s"`
	Run          RunJSON              `json:"run"`
	WhatIf       *scenario.WhatIfJSON `json:"what_if,omitempty"`
	Ranking      []rankingJSON        `json:"ranking"`
	Completions  []completionJSON     `json:"completions,omitempty"`
	ByThread     []threadWaitJSON     `json:"waits_by_thread,omitempty"`
	Threads      []threadTimeJSON     `json:"openmp,omitempty"`
	CriticalPath *criticalJSON        `json:"critical_path,omitempty"`
	Explanations []explanationJSON    `json:"explanations,omitempty"`
	Provenance   *provenance.Record   `json:"provenance,omitempty"`
}

type splitJSON struct {
	Direct      json.Number `json:"direct_s"`
	Indirect    json.Number `json:"indirect_s"`
	Propagating json.Number `json:"propagating_s"`
	Terminal    json.Number `json:"terminal_s"`
}

type WaitJSON struct {
	Metric   string      `json:"metric"`
	Rank     int         `json:"rank"`
	CallPath string      `json:"callpath"`
	Seconds  json.Number `json:"seconds"`
	splitJSON
	Count     int64        `json:"count"`
	Uncertain *json.Number `json:"uncertain_s,omitempty"`
}

type costJSON struct {
	Short json.Number `json:"short_s"`
	Long  json.Number `json:"long_s"`
}

type DelayJSON struct {
	Rank     int    `json:"rank"`
	CallPath string `json:"callpath"`
	costJSON
	ByWait map[string]costJSON `json:"by_wait"`
}

type waitTotalsJSON struct {
	Waiting      json.Number            `json:"waiting_s"`
	Delay        json.Number            `json:"delay_s"`
	Unattributed json.Number            `json:"unattributed_s"`
	Uncertain    json.Number            `json:"uncertain_s"`
	States       int                    `json:"states"`
	Cyclic       int                    `json:"cyclic,omitempty"`
	ByMetric     map[string]json.Number `json:"by_metric"`
}

// RunJSON says which run it was.
type RunJSON struct {
	Ranks     int         `json:"ranks"`
	Locations int         `json:"locations"`
	Time      json.Number `json:"time_s"`
	Simulated bool        `json:"simulated,omitempty"`
	Machine   string      `json:"machine,omitempty"`
	Grid      []int       `json:"grid,omitempty"`

	// If recording was off for a time: how long, summed over locations, and what was left out because of it.
	NotRecorded    *json.Number `json:"not_recorded_s,omitempty"`
	CutMessages    int64        `json:"cut_messages,omitempty"`
	CutCollectives int64        `json:"cut_collectives,omitempty"`

	NoCPU       *json.Number `json:"no_cpu_s,omitempty"`     // of all threads; none: it was not recorded, or there was none
	NoCPUShare  float64      `json:"no_cpu_share,omitempty"` // of their lives
	ForcedYield bool         `json:"forced_yield,omitempty"` // the recorder made MPI give up the CPU while it waits
}

// rankingJSON is a cause by its cost: what is worth changing, first things first.
type rankingJSON struct {
	Rank     int         `json:"rank"`
	CallPath string      `json:"callpath"`
	Cost     json.Number `json:"cost_s"`
	Share    float64     `json:"share"`
}

type completionJSON struct {
	Kind     string      `json:"kind"`
	Rank     int         `json:"rank"`
	CallPath string      `json:"callpath"`
	Seconds  json.Number `json:"seconds"`
}

// threadWaitJSON is a wait of one thread; only of runs with threads.
type threadWaitJSON struct {
	Metric   string      `json:"metric"`
	Rank     int         `json:"rank"`
	Thread   int         `json:"thread"`
	CallPath string      `json:"callpath"`
	Seconds  json.Number `json:"seconds"`
}

type threadTimeJSON struct {
	Rank               int         `json:"rank"`
	LimitedParallelism json.Number `json:"limited_parallelism_s"`
	Management         json.Number `json:"management_s"`
}

type criticalJSON struct {
	Length   json.Number         `json:"length_s"`
	Missing  json.Number         `json:"missing_s"`
	Profile  []criticalShareJSON `json:"profile"`
	Paths    []criticalPathJSON  `json:"callpaths"`
	Segments []segmentPathJSON   `json:"segments"`
}

type criticalShareJSON struct {
	Rank     int         `json:"rank"`
	CallPath string      `json:"callpath"`
	Seconds  json.Number `json:"seconds"`
}

type criticalPathJSON struct {
	CallPath  string      `json:"callpath"`
	Seconds   json.Number `json:"seconds"`
	Average   json.Number `json:"average_s"`
	Imbalance json.Number `json:"imbalance_s"`
}

type segmentPathJSON struct {
	Rank   int         `json:"rank"`
	Thread int         `json:"thread"`
	From   json.Number `json:"from_s"`
	To     json.Number `json:"to_s"`
	After  string      `json:"after,omitempty"` // the wait that the segment before ended
}

type explanationJSON struct {
	Metric   string          `json:"metric"`
	Rank     int             `json:"rank"`
	CallPath string          `json:"callpath"`
	Seconds  json.Number     `json:"seconds"`
	Count    int64           `json:"count"`
	Causes   []waitCauseJSON `json:"causes"`
	Roots    []rootJSON      `json:"roots,omitempty"`
	Text     []string        `json:"text,omitempty"`
}

type waitCauseJSON struct {
	Kind     string           `json:"kind"`
	Rank     int              `json:"rank"`
	CallPath string           `json:"callpath"`
	Metric   string           `json:"metric,omitempty"`
	Seconds  json.Number      `json:"seconds"`
	Because  *explanationJSON `json:"because,omitempty"`
}

type rootJSON struct {
	Rank     int         `json:"rank"`
	CallPath string      `json:"callpath"`
	Seconds  json.Number `json:"seconds"`
}

func (r *WaitsReport) name(path int32) string { return r.Result.Paths.Names[path] }

// DescribeRun says which run it was.
func DescribeRun(r *scenario.Run) RunJSON {
	tl := r.Timeline
	j := RunJSON{Ranks: tl.Ranks, Locations: len(tl.Locations), Time: phrase.ExactSeconds(tl.End - tl.Start), Simulated: tl.Simulated, Machine: r.Machine, ForcedYield: tl.ForcedYield}
	if lack, lifetime := tl.WithoutCPU(); lack > 0 {
		seconds := phrase.ExactSeconds(lack)
		j.NoCPU, j.NoCPUShare = &seconds, float64(lack)/float64(lifetime)
	}
	if tl.Grid != nil {
		j.Grid = tl.Grid.Dims
	}
	if off := tl.Unrecorded(); off > 0 {
		s := phrase.ExactSeconds(off)
		j.NotRecorded = &s
	}
	j.CutMessages, j.CutCollectives = tl.Problems.CutMessages, tl.Problems.CutCollectives
	return j
}

func (r *WaitsReport) JSON() *waitsJSON {
	t := &r.Result.Totals
	j := &waitsJSON{
		Waits: []WaitJSON{}, Delays: []DelayJSON{}, Ranking: []rankingJSON{},
		Totals: waitTotalsJSON{
			Waiting: phrase.ExactSeconds(t.Waiting.Amount), Delay: phrase.ExactSeconds(t.Delay.Sum()), Unattributed: phrase.ExactSeconds(t.Unattributed),
			Uncertain: phrase.ExactSeconds(t.Uncertain), States: r.Result.States, Cyclic: r.Result.Cyclic, ByMetric: map[string]json.Number{},
		},
		Direct: phrase.ExactSeconds(t.Waiting.Direct), Indirect: phrase.ExactSeconds(t.Waiting.Indirect),
		Propagating: phrase.ExactSeconds(t.Waiting.Propagating), Terminal: phrase.ExactSeconds(t.Waiting.Terminal),
		Run: DescribeRun(r.Run), WhatIf: r.Run.Change.JSON(), Provenance: r.provenance,
	}
	for i := range r.Result.Waits {
		w := &r.Result.Waits[i]
		entry := WaitJSON{
			Metric: w.Metric.String(), Rank: w.Rank, CallPath: r.name(w.Path), Seconds: phrase.ExactSeconds(w.Amount),
			splitJSON: splitJSON{phrase.ExactSeconds(w.Direct), phrase.ExactSeconds(w.Indirect), phrase.ExactSeconds(w.Propagating), phrase.ExactSeconds(w.Terminal)}, Count: w.Count,
		}
		if w.Uncertain > 0 {
			s := phrase.ExactSeconds(w.Uncertain)
			entry.Uncertain = &s
		}
		j.Waits = append(j.Waits, entry)
	}
	for _, m := range waits.Metrics() {
		if amount := t.ByMetric[m].Amount; amount > 0 {
			j.Totals.ByMetric[m.String()] = phrase.ExactSeconds(amount)
		}
	}
	for i := range r.Result.Delays {
		j.Delays = append(j.Delays, r.delayJSON(&r.Result.Delays[i]))
	}
	for _, d := range rankedDelays(r.Result.Delays) {
		j.Ranking = append(j.Ranking, rankingJSON{d.Rank, r.name(d.Path), phrase.ExactSeconds(d.Sum()), float64(d.Sum()) / float64(t.Waiting.Amount)})
	}
	for _, c := range r.Result.Completions {
		j.Completions = append(j.Completions, completionJSON{c.Kind.String(), c.Rank, r.name(c.Path), phrase.ExactSeconds(c.Time)})
	}
	if len(r.Run.Timeline.Locations) > r.Run.Timeline.Ranks {
		for _, w := range r.Result.ThreadWaits() {
			j.ByThread = append(j.ByThread, threadWaitJSON{w.Metric.String(), w.Rank, w.Thread, r.name(w.Path), phrase.ExactSeconds(w.Amount)})
		}
	}
	for _, t := range r.Result.Threads {
		j.Threads = append(j.Threads, threadTimeJSON{t.Rank, phrase.ExactSeconds(t.Limited), phrase.ExactSeconds(t.Management)})
	}
	j.CriticalPath = r.criticalJSON()
	for _, e := range r.explanations {
		x := explainJSON(e, r.Result.Paths)
		for _, s := range e.Sentences(r.Result.Paths) {
			x.Text = append(x.Text, s.Text)
		}
		j.Explanations = append(j.Explanations, *x)
	}
	return j
}

func (r *WaitsReport) delayJSON(d *waits.Delay) DelayJSON {
	j := DelayJSON{Rank: d.Rank, CallPath: r.name(d.Path), costJSON: costJSON{phrase.ExactSeconds(d.Short), phrase.ExactSeconds(d.Long)}, ByWait: map[string]costJSON{}}
	for m, c := range d.ByWait {
		if c.Sum() > 0 {
			j.ByWait[waits.Metric(m).String()] = costJSON{phrase.ExactSeconds(c.Short), phrase.ExactSeconds(c.Long)}
		}
	}
	return j
}

func (r *WaitsReport) criticalJSON() *criticalJSON {
	c := r.critical
	if c == nil {
		return nil
	}
	j := &criticalJSON{Length: phrase.ExactSeconds(c.Length), Missing: phrase.ExactSeconds(c.Missing), Profile: []criticalShareJSON{}, Paths: []criticalPathJSON{}, Segments: []segmentPathJSON{}}
	for _, s := range c.Shares {
		j.Profile = append(j.Profile, criticalShareJSON{s.Rank, r.name(s.Path), phrase.ExactSeconds(s.Time)})
	}
	for _, p := range c.Paths {
		j.Paths = append(j.Paths, criticalPathJSON{r.name(p.Path), phrase.ExactSeconds(p.Time), phrase.ExactSeconds(p.Average), phrase.ExactSeconds(p.Imbalance)})
	}
	for _, s := range c.Segments {
		l := &r.Run.Timeline.Locations[s.Location]
		segment := segmentPathJSON{Rank: l.Rank, Thread: l.Thread, From: phrase.ExactSeconds(s.From), To: phrase.ExactSeconds(s.To)}
		if s.Metric != waits.None {
			segment.After = s.Metric.String()
		}
		j.Segments = append(j.Segments, segment)
	}
	return j
}

var causeKinds = map[waits.CauseKind]string{waits.Excess: "excess", waits.Waited: "waited", waits.Unknown: "unknown"}

func explainJSON(e *waits.Explanation, p *profile.Paths) *explanationJSON {
	j := &explanationJSON{Metric: e.Metric.String(), Rank: e.Rank, CallPath: p.Names[e.Path], Seconds: phrase.ExactSeconds(e.Amount), Count: e.Count}
	for i := range e.Causes {
		c := &e.Causes[i]
		cause := waitCauseJSON{Kind: causeKinds[c.Kind], Rank: c.Rank, CallPath: p.Names[c.Path], Seconds: phrase.ExactSeconds(c.Share)}
		if c.Kind == waits.Waited {
			cause.Metric = c.Metric.String()
		}
		if c.Because != nil {
			cause.Because = explainJSON(c.Because, p)
		}
		j.Causes = append(j.Causes, cause)
	}
	for _, root := range e.Roots {
		j.Roots = append(j.Roots, rootJSON{root.Rank, p.Names[root.Path], phrase.ExactSeconds(root.Share)})
	}
	return j
}

// table is the CSV output: one row for each wait and each delay.
func (r *WaitsReport) table() *table.Table {
	t := table.New(
		table.Column{Key: "kind"}, table.Column{Key: "metric"}, table.Column{Key: "rank"}, table.Column{Key: "callpath"}, table.Column{Key: "seconds"},
		table.Column{Key: "direct_s"}, table.Column{Key: "indirect_s"}, table.Column{Key: "propagating_s"}, table.Column{Key: "terminal_s"},
		table.Column{Key: "short_s"}, table.Column{Key: "long_s"},
	)
	none := table.Cell{}
	for i := range r.Result.Waits {
		w := &r.Result.Waits[i]
		t.Add("wait", w.Metric.String(), w.Rank, r.name(w.Path), phrase.ExactSeconds(w.Amount), phrase.ExactSeconds(w.Direct), phrase.ExactSeconds(w.Indirect),
			phrase.ExactSeconds(w.Propagating), phrase.ExactSeconds(w.Terminal), none, none)
	}
	for i := range r.Result.Delays {
		d := &r.Result.Delays[i]
		t.Add("delay", none, d.Rank, r.name(d.Path), phrase.ExactSeconds(d.Sum()), none, none, none, none, phrase.ExactSeconds(d.Short), phrase.ExactSeconds(d.Long))
	}
	return t
}
