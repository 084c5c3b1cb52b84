package hang

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"slackline/analyze/hang"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/observe/record"
)

// Document is the JSON output of hang.
type Document struct {
	Outcome    hang.Outcome       `json:"outcome"`
	Reason     string             `json:"reason,omitempty"` // what 'slackline explain' knows
	Summary    string             `json:"summary"`
	Command    []string           `json:"command"`
	Ranks      int                `json:"ranks"`
	Calls      int64              `json:"mpi_calls"`
	Alive      bool               `json:"alive"`
	Findings   []findingJSON      `json:"findings"`
	Roots      []int              `json:"roots"`   // ranks that others wait for and that can go on
	Blocked    []int              `json:"blocked"` // ranks inside a call that waits
	Stuck      []int              `json:"stuck"`   // those that can never go on
	Moved      []int              `json:"moved"`   // ranks that made a call between the looks
	Waits      []hang.Edge        `json:"waits"`   // who waits for whom
	States     []stateJSON        `json:"states"`
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

type findingJSON struct {
	Kind     string      `json:"kind"`
	Title    string      `json:"title"`
	Culprits []int       `json:"culprits"`
	Waiting  []int       `json:"waiting"`
	Cycle    []hang.Edge `json:"cycle,omitempty"`
	What     string      `json:"what"`
	Mistake  string      `json:"likely_mistake,omitempty"`
	Advice   string      `json:"advice"`
}

type stateJSON struct {
	Ranks    []int   `json:"ranks"`
	Thread   int     `json:"thread"`
	Doing    string  `json:"doing"`
	Call     string  `json:"call,omitempty"`
	Since    float64 `json:"since_s"`
	Stuck    bool    `json:"stuck"`
	CallPath string  `json:"callpath,omitempty"`
	Source   string  `json:"source,omitempty"` // file and line of the innermost function
}

// report is a verdict with everything that is shown of it.
type report struct {
	Document
	verdict *hang.Verdict
	top     int // rows in the text output
}

func (r *report) JSON(a *env.Env) (any, error) {
	r.Provenance = a.Record()
	return r.Document, nil
}

// mostPaths is the number of rows whose call paths are looked up.
const mostPaths = 40

func newReport(sight *record.Sight) *report {
	v := hang.Analyze(&sight.Run, sight.Alive)
	r := &report{verdict: v, top: 20, Document: Document{
		Outcome: v.Outcome, Summary: v.Summary(sight.Apart), Command: sight.Command,
		Ranks: len(sight.Ranks), Calls: sight.Calls, Alive: sight.Alive,
		Findings: []findingJSON{}, Roots: list(v.Roots), Blocked: list(v.Blocked), Stuck: list(v.Stuck), Moved: list(v.Moved),
		Waits: list(v.Edges),
	}}
	if kind := v.Reason(); kind != nil {
		r.Reason = kind.Name
	}
	for _, f := range v.Findings {
		r.Findings = append(r.Findings, findingJSON{
			Kind: f.Kind.Name, Title: f.Kind.Title, Culprits: list(f.Culprits), Waiting: list(f.Waiting), Cycle: f.Cycle,
			What: f.Sentence, Mistake: f.Mistake, Advice: f.Kind.Advice,
		})
	}
	for i, row := range v.Rows() {
		s := stateJSON{Ranks: row.Ranks, Thread: row.Thread, Doing: row.Doing, Call: row.Call, Since: row.Since.Seconds(), Stuck: row.Stuck}
		if i < mostPaths {
			s.CallPath, s.Source = path(sight.CallPath(row.Ranks[0], row.Thread))
		}
		r.States = append(r.States, s)
	}
	return r
}

// list is a list that is not null in JSON.
func list[T any](of []T) []T { return append([]T{}, of...) }

// path is the names of functions, and where the innermost is.
func path(regions []timeline.Region) (names, source string) {
	var parts []string
	for _, r := range regions {
		parts = append(parts, r.Name)
		if r.File != "" {
			source = fmt.Sprintf("%s:%d", r.File, r.Line)
		}
	}
	return strings.Join(parts, "/"), source
}

// Write writes why a program stands still.
func Write(a *env.Env, w io.Writer, sight *record.Sight) {
	newReport(sight).Text(a, w)
}

func (r *report) Text(a *env.Env, w io.Writer) {
	fmt.Fprintf(w, "%s\n", a.Bold(r.title()))
	a.WriteWrapped(w, r.Summary)
	for i, f := range r.Findings {
		if i > 0 {
			fmt.Fprintf(w, "\n%s\n", a.Bold(f.Title))
		}
		a.WriteWrapped(w, f.What)
		if f.Mistake != "" {
			a.WriteWrapped(w, "Likely mistake: "+f.Mistake)
		}
		a.WriteWrapped(w, "What helps: "+f.Advice)
	}
	if len(r.States) == 0 { // of dumps
		return
	}
	fmt.Fprintln(w)
	a.WriteCut(w, r.table(r.top))
}

// title is the answer in a few words.
func (r *report) title() string {
	if kind := r.verdict.Reason(); kind != nil {
		return kind.Title
	}
	switch r.Outcome {
	case hang.Running:
		return "No hang"
	case hang.Ended:
		return "The program has finished"
	}
	if len(r.Roots) > 0 {
		return "Ranks that have not come"
	}
	return "No answer"
}

// table is what the ranks do; top: the number of rows, 0: all.
func (r *report) table(top int) *table.Table {
	t := phrase.PathTable("ranks", "doing", ">since", "callpath=call path")
	t.Limit = top
	for _, s := range r.States {
		who := strings.TrimPrefix(strings.TrimPrefix(hang.Ranks(s.Ranks), "Ranks "), "Rank ")
		if s.Thread > 0 {
			who += fmt.Sprintf(" thread %d", s.Thread)
		}
		t.Add(who, s.Doing, unit.Elapsed(time.Duration(s.Since*1e9)), s.CallPath)
	}
	return t
}

// Rows is what each rank does, for programs.
func (r *report) Rows(*env.Env) env.Rows {
	t := table.Of("rank", "thread", "doing", "call", "since_s", "stuck", "callpath", "source")
	for _, s := range r.States {
		for _, rank := range s.Ranks {
			t.Add(rank, s.Thread, s.Doing, s.Call, s.Since, s.Stuck, s.CallPath, s.Source)
		}
	}
	slices.SortStableFunc(t.Rows, func(a, b []table.Cell) int { return cmp.Compare(a[0].Value.(int), b[0].Value.(int)) })
	return t
}
