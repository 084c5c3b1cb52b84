package compare

import (
	"fmt"
	"io"
	"math"
	"strings"

	"slackline/cli/env"
	"slackline/cli/phrase"
	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/model/unit"
)

// compareJSON is the JSON output of compare.
type compareJSON struct {
	A          string             `json:"a"`
	B          string             `json:"b"`
	Runs       [2]int             `json:"runs"`
	Changes    []changeJSON       `json:"changes"`
	Verdicts   []conditionVerdict `json:"verdicts,omitempty"`
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

type changeJSON struct {
	Metric      string   `json:"metric"`
	CallPath    string   `json:"callpath"`
	A           float64  `json:"a_s"`
	B           float64  `json:"b_s"`
	Difference  float64  `json:"difference_s"`
	Relative    *float64 `json:"relative"`
	P           *float64 `json:"p,omitempty"`
	Significant bool     `json:"significant"`
}

func (r *compareReport) write(a *env.Env, w io.Writer) error {
	switch r.options.format.Value {
	case env.FormatJSON:
		j := &compareJSON{A: r.names[0], B: r.names[1], Runs: r.runs, Changes: []changeJSON{}, Verdicts: r.verdicts, Provenance: r.provenance}
		if j.Provenance != nil {
			j.Provenance.Warnings = a.Warnings
		}
		for i := range r.changes {
			c := &r.changes[i]
			j.Changes = append(j.Changes, changeJSON{c.Metric, c.Path, c.a, c.b, c.difference(), phrase.Finite(c.relative()), phrase.Finite(c.p), c.significant})
		}
		return env.WriteJSONObject(w, j)
	case env.FormatCSV:
		return r.table(false).WriteCSV(w)
	}
	return r.writeText(a, w)
}

// people prints seconds for people.
func people(s float64) string {
	ps := s * float64(unit.Second)
	if math.Abs(ps) >= math.MaxInt64 {
		return fmt.Sprintf("%.4gs", s)
	}
	return unit.Duration(math.Round(ps)).Short()
}

// describe says how a number has changed.
func (c *change) describe() string {
	text := fmt.Sprintf("%s to %s", people(c.a), people(c.b))
	if rel := c.relative(); !math.IsInf(rel, 0) {
		text += fmt.Sprintf(" (%+.1f %%", 100*rel)
	} else {
		text += " (new"
	}
	if !math.IsNaN(c.p) {
		text += fmt.Sprintf(", p = %.3f", c.p)
	}
	return text + ")"
}

// table lists the changes; shown leaves out those that are not worth a row.
func (r *compareReport) table(shown bool) *table.Table {
	right := table.Right
	t := table.New(table.Column{Key: "metric"}, table.Column{Key: "a_s", Title: "A", Align: right}, table.Column{Key: "b_s", Title: "B", Align: right},
		table.Column{Key: "difference_s", Title: "change", Align: right}, table.Column{Key: "relative", Title: "", Align: right},
		table.Column{Key: "p", Align: right}, table.Column{Key: "callpath", Title: "in"})
	for i := range r.changes {
		c := &r.changes[i]
		if shown && c.Path != "" && c.a == c.b {
			continue
		}
		if shown && r.options.top > 0 && t.Len() >= r.options.top {
			break
		}
		relative, p := table.Cell{Text: "new"}, table.Cell{Text: ""}
		if v := c.relative(); !math.IsInf(v, 0) {
			relative = table.Cell{Text: fmt.Sprintf("%+.1f %%", 100*v), Value: v}
		}
		if !math.IsNaN(c.p) {
			p = table.Cell{Text: fmt.Sprintf("%.3f", c.p), Value: c.p}
			if !c.significant {
				relative.Text = "~"
			}
		}
		path := table.Cell{Text: c.Path, Value: c.Path}
		if c.Path == "" {
			path.Text = "(the whole run)"
		}
		t.Add(c.Metric, table.Cell{Text: people(c.a), Value: c.a}, table.Cell{Text: people(c.b), Value: c.b},
			table.Cell{Text: people(c.difference()), Value: c.difference()}, relative, p, path)
	}
	return t
}

func (r *compareReport) writeText(a *env.Env, w io.Writer) error {
	fmt.Fprintf(w, "A: %s\nB: %s\n\n", describeSide(r.names[0], r.runs[0]), describeSide(r.names[1], r.runs[1]))
	if err := a.WriteText(w, r.table(true), true); err != nil {
		return err
	}
	for _, v := range r.verdicts {
		fmt.Fprintf(w, "\n%s: %s", v.Verdict, v.Condition)
		for _, b := range v.Because {
			fmt.Fprintf(w, "\n  %s", b)
		}
		fmt.Fprintln(w)
	}
	return nil
}

func describeSide(name string, runs int) string {
	if runs == 1 {
		return name
	}
	return fmt.Sprintf("median of %d runs: %s", runs, strings.ReplaceAll(name, ",", ", "))
}
