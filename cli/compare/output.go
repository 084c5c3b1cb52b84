package compare

import (
	"fmt"
	"io"
	"strings"

	"slackline/analyze/compare"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/internal/table"
)

// document is the result for programs.
type document struct {
	A          string             `json:"a"`
	B          string             `json:"b"`
	Runs       [2]int             `json:"runs"`
	Changes    []compare.Change   `json:"changes"`
	Verdicts   []compare.Verdict  `json:"verdicts,omitempty"`
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

func (r *report) write(a *env.Env, w io.Writer) error {
	switch r.options.format.Value {
	case env.FormatJSON:
		if r.provenance != nil {
			r.provenance.Warnings = a.Warnings
		}
		return env.WriteJSONObject(w, &document{r.names[0], r.names[1], r.Runs(), r.Changes, r.verdicts, r.provenance})
	case env.FormatCSV, env.FormatParquet:
		return env.WriteRows(w, r.options.format.Value, "compare", r.table(false))
	}
	return r.writeText(a, w)
}

// table lists the changes; shown leaves out those that are not worth a row.
func (r *report) table(shown bool) *table.Table {
	right := table.Right
	t := table.New(table.Column{Key: "metric"}, table.Column{Key: "a_s", Title: "A", Align: right}, table.Column{Key: "b_s", Title: "B",
		Align: right},
		table.Column{Key: "difference_s", Title: "change", Align: right}, table.Column{Key: "relative", Title: "", Align: right},
		table.Column{Key: "p", Align: right}, phrase.PathColumn("in"))
	for i := range r.Changes {
		c := &r.Changes[i]
		if shown && c.Path != "" && c.A == c.B {
			continue
		}
		if shown && r.options.top > 0 && t.Len() >= r.options.top {
			break
		}
		relative, p := table.Cell{Text: "new"}, table.Cell{Text: ""}
		if c.Relative != nil {
			relative = table.Cell{Text: fmt.Sprintf("%+.1f %%", 100**c.Relative), Value: *c.Relative}
		}
		if c.P != nil {
			p = table.Cell{Text: fmt.Sprintf("%.3f", *c.P), Value: *c.P}
			if !c.Significant {
				relative.Text = "~"
			}
		}
		path := table.Cell{Text: c.Path, Value: c.Path}
		if c.Path == "" {
			path.Text = "(the whole run)"
		}
		t.Add(c.Metric, timeCell(c.A), timeCell(c.B), timeCell(c.Difference), relative, p, path)
	}
	return t
}

func (r *report) writeText(a *env.Env, w io.Writer) error {
	fmt.Fprintf(w, "A: %s\nB: %s\n\n", describeSide(r.names[0], r.Runs()[0]), describeSide(r.names[1], r.Runs()[1]))
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

func timeCell(seconds float64) table.Cell {
	return table.Cell{Text: compare.Seconds(seconds), Value: seconds}
}

func describeSide(name string, runs int) string {
	if runs == 1 {
		return name
	}
	return fmt.Sprintf("median of %d runs: %s", runs, strings.ReplaceAll(name, ",", ", "))
}
