package cli

import (
	"encoding/json"
	"strconv"
	"strings"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/model/unit"
)

// exactSeconds is a duration as an exact decimal number of seconds.
func exactSeconds(d unit.Duration) json.Number {
	sign := ""
	v := uint64(d)
	if d < 0 {
		sign, v = "-", -v
	}
	whole, rest := v/uint64(unit.Second), v%uint64(unit.Second)
	text := sign + strconv.FormatUint(whole, 10)
	if rest > 0 {
		digits := strconv.FormatUint(rest, 10)
		text += "." + strings.TrimRight(strings.Repeat("0", 12-len(digits))+digits, "0")
	}
	return json.Number(text)
}

// waitsJSON is the JSON output of waits. The names and meanings of its members stay as they are: other programs
// rely on them.
type waitsJSON struct {
	Waits        []waitJSON         `json:"waits"`
	Delays       []delayJSON        `json:"delays"`
	Totals       waitTotalsJSON     `json:"totals"`
	Direct       json.Number        `json:"direct_s"`
	Indirect     json.Number        `json:"indirect_s"`
	Propagating  json.Number        `json:"propagating_s"`
	Terminal     json.Number        `json:"terminal_s"`
	Run          runJSON            `json:"run"`
	WhatIf       *whatIfJSON        `json:"what_if,omitempty"`
	Ranking      []rankingJSON      `json:"ranking"`
	Completions  []completionJSON   `json:"completions,omitempty"`
	ByThread     []threadWaitJSON   `json:"waits_by_thread,omitempty"`
	Threads      []threadTimeJSON   `json:"openmp,omitempty"`
	CriticalPath *criticalJSON      `json:"critical_path,omitempty"`
	Explanations []explanationJSON  `json:"explanations,omitempty"`
	Provenance   *provenance.Record `json:"provenance,omitempty"`
}

type splitJSON struct {
	Direct      json.Number `json:"direct_s"`
	Indirect    json.Number `json:"indirect_s"`
	Propagating json.Number `json:"propagating_s"`
	Terminal    json.Number `json:"terminal_s"`
}

type waitJSON struct {
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

type delayJSON struct {
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

// runJSON says which run it was.
type runJSON struct {
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

func (r *waitsReport) name(path int32) string { return r.result.Paths.Names[path] }

// describeRun says which run it was.
func describeRun(r *run) runJSON {
	tl := r.timeline
	j := runJSON{Ranks: tl.Ranks, Locations: len(tl.Locations), Time: exactSeconds(tl.End - tl.Start), Simulated: tl.Simulated, Machine: r.machine, ForcedYield: tl.ForcedYield}
	if lack, lifetime := tl.WithoutCPU(); lack > 0 {
		seconds := exactSeconds(lack)
		j.NoCPU, j.NoCPUShare = &seconds, float64(lack)/float64(lifetime)
	}
	if tl.Grid != nil {
		j.Grid = tl.Grid.Dims
	}
	if off := tl.Unrecorded(); off > 0 {
		s := exactSeconds(off)
		j.NotRecorded = &s
	}
	j.CutMessages, j.CutCollectives = tl.Problems.CutMessages, tl.Problems.CutCollectives
	return j
}

func (r *waitsReport) json() *waitsJSON {
	t := &r.result.Totals
	j := &waitsJSON{
		Waits: []waitJSON{}, Delays: []delayJSON{}, Ranking: []rankingJSON{},
		Totals: waitTotalsJSON{
			Waiting: exactSeconds(t.Waiting.Amount), Delay: exactSeconds(t.Delay.Sum()), Unattributed: exactSeconds(t.Unattributed),
			Uncertain: exactSeconds(t.Uncertain), States: r.result.States, Cyclic: r.result.Cyclic, ByMetric: map[string]json.Number{},
		},
		Direct: exactSeconds(t.Waiting.Direct), Indirect: exactSeconds(t.Waiting.Indirect),
		Propagating: exactSeconds(t.Waiting.Propagating), Terminal: exactSeconds(t.Waiting.Terminal),
		Run: describeRun(r.run), WhatIf: r.run.change.json(), Provenance: r.provenance,
	}
	for i := range r.result.Waits {
		w := &r.result.Waits[i]
		entry := waitJSON{
			Metric: w.Metric.String(), Rank: w.Rank, CallPath: r.name(w.Path), Seconds: exactSeconds(w.Amount),
			splitJSON: splitJSON{exactSeconds(w.Direct), exactSeconds(w.Indirect), exactSeconds(w.Propagating), exactSeconds(w.Terminal)}, Count: w.Count,
		}
		if w.Uncertain > 0 {
			s := exactSeconds(w.Uncertain)
			entry.Uncertain = &s
		}
		j.Waits = append(j.Waits, entry)
	}
	for _, m := range waits.Metrics() {
		if amount := t.ByMetric[m].Amount; amount > 0 {
			j.Totals.ByMetric[m.String()] = exactSeconds(amount)
		}
	}
	for i := range r.result.Delays {
		j.Delays = append(j.Delays, r.delayJSON(&r.result.Delays[i]))
	}
	for _, d := range rankedDelays(r.result.Delays) {
		j.Ranking = append(j.Ranking, rankingJSON{d.Rank, r.name(d.Path), exactSeconds(d.Sum()), float64(d.Sum()) / float64(t.Waiting.Amount)})
	}
	for _, c := range r.result.Completions {
		j.Completions = append(j.Completions, completionJSON{c.Kind.String(), c.Rank, r.name(c.Path), exactSeconds(c.Time)})
	}
	if len(r.run.timeline.Locations) > r.run.timeline.Ranks {
		for _, w := range r.result.ThreadWaits() {
			j.ByThread = append(j.ByThread, threadWaitJSON{w.Metric.String(), w.Rank, w.Thread, r.name(w.Path), exactSeconds(w.Amount)})
		}
	}
	for _, t := range r.result.Threads {
		j.Threads = append(j.Threads, threadTimeJSON{t.Rank, exactSeconds(t.Limited), exactSeconds(t.Management)})
	}
	j.CriticalPath = r.criticalJSON()
	for _, e := range r.explanations {
		x := explainJSON(e, r.result.Paths)
		for _, s := range e.Sentences(r.result.Paths) {
			x.Text = append(x.Text, s.Text)
		}
		j.Explanations = append(j.Explanations, *x)
	}
	return j
}

func (r *waitsReport) delayJSON(d *waits.Delay) delayJSON {
	j := delayJSON{Rank: d.Rank, CallPath: r.name(d.Path), costJSON: costJSON{exactSeconds(d.Short), exactSeconds(d.Long)}, ByWait: map[string]costJSON{}}
	for m, c := range d.ByWait {
		if c.Sum() > 0 {
			j.ByWait[waits.Metric(m).String()] = costJSON{exactSeconds(c.Short), exactSeconds(c.Long)}
		}
	}
	return j
}

func (r *waitsReport) criticalJSON() *criticalJSON {
	c := r.critical
	if c == nil {
		return nil
	}
	j := &criticalJSON{Length: exactSeconds(c.Length), Missing: exactSeconds(c.Missing), Profile: []criticalShareJSON{}, Paths: []criticalPathJSON{}, Segments: []segmentPathJSON{}}
	for _, s := range c.Shares {
		j.Profile = append(j.Profile, criticalShareJSON{s.Rank, r.name(s.Path), exactSeconds(s.Time)})
	}
	for _, p := range c.Paths {
		j.Paths = append(j.Paths, criticalPathJSON{r.name(p.Path), exactSeconds(p.Time), exactSeconds(p.Average), exactSeconds(p.Imbalance)})
	}
	for _, s := range c.Segments {
		l := &r.run.timeline.Locations[s.Location]
		segment := segmentPathJSON{Rank: l.Rank, Thread: l.Thread, From: exactSeconds(s.From), To: exactSeconds(s.To)}
		if s.Metric != waits.None {
			segment.After = s.Metric.String()
		}
		j.Segments = append(j.Segments, segment)
	}
	return j
}

var causeKinds = map[waits.CauseKind]string{waits.Excess: "excess", waits.Waited: "waited", waits.Unknown: "unknown"}

func explainJSON(e *waits.Explanation, p *profile.Paths) *explanationJSON {
	j := &explanationJSON{Metric: e.Metric.String(), Rank: e.Rank, CallPath: p.Names[e.Path], Seconds: exactSeconds(e.Amount), Count: e.Count}
	for i := range e.Causes {
		c := &e.Causes[i]
		cause := waitCauseJSON{Kind: causeKinds[c.Kind], Rank: c.Rank, CallPath: p.Names[c.Path], Seconds: exactSeconds(c.Share)}
		if c.Kind == waits.Waited {
			cause.Metric = c.Metric.String()
		}
		if c.Because != nil {
			cause.Because = explainJSON(c.Because, p)
		}
		j.Causes = append(j.Causes, cause)
	}
	for _, root := range e.Roots {
		j.Roots = append(j.Roots, rootJSON{root.Rank, p.Names[root.Path], exactSeconds(root.Share)})
	}
	return j
}

// table is the CSV output: one row for each wait and each delay.
func (r *waitsReport) table() *table.Table {
	t := table.New(
		table.Column{Key: "kind"}, table.Column{Key: "metric"}, table.Column{Key: "rank"}, table.Column{Key: "callpath"}, table.Column{Key: "seconds"},
		table.Column{Key: "direct_s"}, table.Column{Key: "indirect_s"}, table.Column{Key: "propagating_s"}, table.Column{Key: "terminal_s"},
		table.Column{Key: "short_s"}, table.Column{Key: "long_s"},
	)
	none := table.Cell{}
	for i := range r.result.Waits {
		w := &r.result.Waits[i]
		t.Add("wait", w.Metric.String(), w.Rank, r.name(w.Path), exactSeconds(w.Amount), exactSeconds(w.Direct), exactSeconds(w.Indirect),
			exactSeconds(w.Propagating), exactSeconds(w.Terminal), none, none)
	}
	for i := range r.result.Delays {
		d := &r.result.Delays[i]
		t.Add("delay", none, d.Rank, r.name(d.Path), exactSeconds(d.Sum()), none, none, none, none, exactSeconds(d.Short), exactSeconds(d.Long))
	}
	return t
}
