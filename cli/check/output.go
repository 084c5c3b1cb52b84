package check

import (
	"fmt"
	"io"
	"math"
	"strings"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/show/figures"
)

func (r *CheckReport) write(a *env.Env, w io.Writer, format string) error {
	switch format {
	case env.FormatJSON:
		return env.WriteJSONObject(w, r.document(a))
	case env.FormatCSV:
		return r.table().WriteCSV(w)
	case formatMarkdown:
		return r.writeMarkdown(w)
	case formatJUnit:
		return r.writeJUnit(w)
	case formatGitHub, formatAzure:
		return r.writeAnnotations(w, format)
	case formatGitLab:
		return r.writeGitLab(w)
	}
	return r.writeText(a, w)
}

// checkResult is one verdict with its words, whatever it is about.
type checkResult struct {
	label   string // of the dataset
	kind    string // expectation, rule, baseline
	name    string // of the function, or the rule
	metric  string
	expect  string
	found   string // lead of the model
	formula string
	rank    string
	outcome *scaling.Outcome
}

// results are all verdicts, in the order of the file, dataset by dataset.
func (r *CheckReport) results() []checkResult {
	var list []checkResult
	for _, column := range r.columns {
		for _, c := range column.report.Checks {
			x := newCheckResult(c, column.label, "expectation")
			x.expect = c.Expectation.Expect.Text
			list = append(list, x)
		}
		for _, c := range column.report.Rules {
			list = append(list, checkResult{
				label: column.label, kind: "rule", name: c.Rule.Text, metric: c.Metric, outcome: &c.Outcome,
			})
		}
		if column.baseline == nil {
			continue
		}
		for _, c := range column.baseline.Rows {
			x := newCheckResult(&c.Check, column.label, "baseline")
			x.expect = c.Expectation.Expect.Text
			list = append(list, x)
		}
	}
	return list
}

func newCheckResult(c *scaling.Check, label, kind string) checkResult {
	x := checkResult{label: label, kind: kind, name: c.Function, metric: c.Metric, outcome: &c.Outcome}
	if c.Fit != nil {
		x.found, x.formula, x.rank = c.Fit.Landau(), c.Fit.Model.String(), c.Rank.String()
	}
	return x
}

// explanation is why the verdict is what it is, with its notes.
func (x *checkResult) explanation() string {
	parts := []string{}
	if x.outcome.Reason != "" {
		parts = append(parts, x.outcome.Reason)
	}
	if x.outcome.XFail != "" {
		parts = append(parts, "failure expected: "+x.outcome.XFail)
	}
	if x.outcome.Litmus {
		parts = append(parts, "litmus test")
	}
	return strings.Join(append(parts, x.outcome.Notes...), "; ")
}

// table has a row for each verdict.
func (r *CheckReport) table() *table.Table {
	var columns []table.Column
	labels := len(r.columns) > 1 || r.columns[0].label != ""
	if labels {
		columns = append(columns, table.Column{Key: "data"})
	}
	t := table.New(append(columns, table.Column{Key: "verdict"}, table.Column{Key: "function"}, table.Column{Key: "metric"},
		table.Column{Key: "expect"}, table.Column{Key: "found"}, table.Column{Key: "rank"}, table.Column{Key: "why"})...)
	for _, x := range r.results() {
		var cells []any
		if labels {
			cells = append(cells, x.label)
		}
		t.Add(append(cells, x.outcome.Status(), x.name, x.metric, x.expect, x.found, x.rank, x.explanation())...)
	}
	return t
}

// summary counts the verdicts in one line.
func (r *CheckReport) summary() string {
	counts := map[string]int{}
	for _, x := range r.results() {
		counts[x.outcome.Status()]++
	}
	var parts []string
	for _, word := range []string{"pass", "fail", "inconclusive", "xfail", "xpass", "skipped"} {
		if counts[word] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[word], word))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing to compare"}
	}
	return fmt.Sprintf("%s: %s", r.verdict(), strings.Join(parts, ", "))
}

func (r *CheckReport) writeText(a *env.Env, w io.Writer) error {
	if len(r.results()) > 0 {
		t := r.table()
		if len(r.columns) > 1 {
			t = r.wide()
		}
		if err := a.WriteText(w, t, true); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	for _, line := range r.remarks() {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, r.summary())
	return err
}

// remarks are predictions and walls, and what several columns have no room for.
func (r *CheckReport) remarks() []string {
	var lines []string
	for _, column := range r.columns {
		name := ""
		if column.label != "" {
			name = column.label + ": "
		}
		for _, c := range column.report.Checks {
			if c.Prediction != nil {
				lines = append(lines, fmt.Sprintf("%s%s: %.4g predicted at %s (90 %%: %.4g..%.4g)", name, c.Function, c.Prediction.Value,
					figures.PlaceText(c.Fit.Parameters, c.Target), c.Prediction.Low, c.Prediction.High))
			}
			if !math.IsNaN(c.Wall) {
				lines = append(lines, fmt.Sprintf("%s%s: within %.6g up to %s = %s", name, c.Function, *c.Expectation.Max, c.Fit.Parameters[0], phrase.WallCell(c.Wall).Text))
			}
		}
		for _, c := range column.report.Rules {
			if len(r.columns) > 1 && c.Reason != "" {
				lines = append(lines, fmt.Sprintf("%s%s: %s", name, c.Rule.Text, c.Reason))
			}
		}
	}
	return lines
}

// wide is a table like Table 2 of the paper: a column for each dataset.
func (r *CheckReport) wide() *table.Table {
	columns := []table.Column{{Key: "function", Fixed: true}, {Key: "what", Title: "expectation"}}
	for _, c := range r.columns {
		label := c.label
		if label == "" {
			label = "data"
		}
		columns = append(columns, table.Column{Key: label})
	}
	t := table.New(columns...)
	row := func(first, second string, cell func(*scaling.Report) string) {
		cells := []any{first, second}
		for _, c := range r.columns {
			cells = append(cells, cell(c.report))
		}
		t.Add(cells...)
	}
	for i, x := range r.columns[0].report.Checks {
		of := func(f func(*scaling.Check) string) func(*scaling.Report) string {
			return func(rep *scaling.Report) string {
				if rep.Checks[i].Fit == nil {
					return "-"
				}
				return f(rep.Checks[i])
			}
		}
		row(x.Function, x.Expectation.Expect.Text, func(*scaling.Report) string { return "" })
		row("", "model", of(func(c *scaling.Check) string { return c.Fit.Landau() }))
		row("", "adj. R2", of(func(c *scaling.Check) string { return phrase.NumberCell(c.Fit.AdjustedR2, "%.2f").Text }))
		row("", "divergence", of(func(c *scaling.Check) string { return scaling.Landau(c.Fit.Parameters, c.Delta, scaling.Product) }))
		row("", "match", of(func(c *scaling.Check) string { return c.Rank.String() }))
		row("", "verdict", func(rep *scaling.Report) string { return rep.Checks[i].Status() })
	}
	for i, x := range r.columns[0].report.Rules {
		row(x.Rule.Text, "rule", func(rep *scaling.Report) string { return rep.Rules[i].Status() })
	}
	return t
}
