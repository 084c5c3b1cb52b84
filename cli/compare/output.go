package compare

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"slackline/analyze/compare"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/plain"
	"slackline/internal/provenance"
	"slackline/internal/table"
)

// document is the result for programs.
type document struct {
	A          string             `json:"a"`
	B          string             `json:"b"`
	Runs       [2]int             `json:"runs"`
	Changes    []compare.Change   `json:"changes"`
	Scaling    *compare.Scaling   `json:"computation_scaling,omitempty"` // of runs with counters
	Verdicts   []compare.Verdict  `json:"verdicts,omitempty"`
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

func (r *report) JSON(a *env.Env) (any, error) {
	return &document{r.names[0], r.names[1], r.Runs(), r.Changes, r.Scaling(), r.verdicts, a.Record(r.records...)}, nil
}

func (r *report) Rows(*env.Env) env.Rows {
	t := r.table(false)
	if s := r.Scaling(); s != nil {
		for _, f := range s.Factors() { // of A itself they are 1
			t.Add(f.Name, 1.0, f.Value, f.Value-1, f.Value-1, "", "", "1")
		}
	}
	return t
}

// table lists the changes; shown leaves out those that are not worth a row.
func (r *report) table(shown bool) *table.Table {
	t := phrase.PathTable("metric", ">a_s=A", ">b_s=B", ">difference_s=change", ">relative", ">p", "callpath=in")
	if shown {
		t.Limit = r.options.top
	}
	units := !shown && slices.ContainsFunc(r.Changes, func(c compare.Change) bool { return c.Unit != "" })
	if units {
		t.Columns = append(t.Columns, table.Column{Key: "unit"})
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		if shown && c.Path != "" && c.A == c.B {
			continue
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
		cells := []any{c.Metric, valueCell(c, c.A), valueCell(c, c.B), valueCell(c, c.Difference), relative, p, path}
		if units {
			cells = append(cells, cmp.Or(c.Unit, "s"))
		}
		t.Add(cells...)
	}
	return t
}

func (r *report) Text(a *env.Env, w io.Writer) {
	fmt.Fprintf(w, "A: %s\nB: %s\n\n", describeSide(r.names[0], r.Runs()[0]), describeSide(r.names[1], r.Runs()[1]))
	t := r.table(true)
	if !slices.ContainsFunc(r.Changes, func(c compare.Change) bool { return c.P != nil }) { // one run of each side
		t = t.Pick("metric", "a_s", "b_s", "difference_s", "relative", "callpath")
	}
	a.WriteCut(w, t)
	if s := r.Scaling(); s != nil {
		fmt.Fprintln(w)
		a.WriteWrapped(w, fmt.Sprintf("computation scaling %.3f = instructions %.3f x instructions per cycle %.3f x frequency %.3f (1: as in A)",
			s.Computation, s.Instructions, s.IPC, s.Frequency))
	}
	for _, v := range r.verdicts {
		fmt.Fprintf(w, "\n%s: %s", v.Verdict, plain.Name(v.Condition))
		for _, b := range v.Because {
			fmt.Fprintf(w, "\n  %s", plain.Name(b))
		}
		fmt.Fprintln(w)
	}
}

func valueCell(c *compare.Change, v float64) table.Cell { return table.Cell{Text: c.Show(v), Value: v} }

func describeSide(name string, runs int) string {
	if runs == 1 {
		return name
	}
	return fmt.Sprintf("median of %d runs: %s", runs, strings.ReplaceAll(name, ",", ", "))
}
