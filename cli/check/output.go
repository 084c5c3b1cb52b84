package check

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/show/figures"
	"slackline/show/tables"
)

// inFormat is a report in one of its forms.
type inFormat struct {
	*Report
	format string
}

func (r inFormat) Rows(*env.Env) env.Rows { return r.table() }

func (r inFormat) Text(a *env.Env, w io.Writer) {
	switch r.format {
	case formatMarkdown:
		r.writeMarkdown(w)
	case formatJUnit:
		r.writeJUnit(w)
	case formatGitHub, formatAzure:
		r.writeAnnotations(w, r.format)
	case formatGitLab:
		r.writeGitLab(w)
	default:
		r.writeText(a, w)
	}
}

// results are all verdicts, in the order of the file, dataset by dataset.
func (r *Report) results() []tables.Verdict {
	var list []tables.Verdict
	for _, column := range r.columns {
		list = append(list, tables.VerdictsOf(column.label, column.report)...)
		if column.baseline == nil {
			continue
		}
		for _, c := range column.baseline.Rows {
			list = append(list, tables.VerdictOf(column.label, "baseline", &c.Check))
		}
	}
	return list
}

// table has a row for each verdict.
func (r *Report) table() *table.Table {
	columns := []string{"verdict", "function", "metric", "expect", "found", "rank", "why"}
	if len(r.columns) > 1 || r.columns[0].label != "" {
		columns = append([]string{"data"}, columns...)
	}
	return tables.Verdicts(r.results()).Pick(columns...)
}

// summary counts the verdicts in one line.
func (r *Report) summary() string {
	counts := map[string]int{}
	for _, x := range r.results() {
		counts[x.Outcome.Status()]++
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

func (r *Report) writeText(a *env.Env, w io.Writer) {
	if len(r.results()) > 0 {
		t := r.table()
		if len(r.columns) > 1 {
			t = r.wide()
		}
		a.WriteText(w, t, true)
		fmt.Fprintln(w)
	}
	for _, line := range r.remarks() {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w, r.summary())
}

// remarks are predictions and walls, and what several columns have no room for.
func (r *Report) remarks() []string {
	var lines []string
	for _, column := range r.columns {
		name := ""
		if column.label != "" {
			name = column.label + ": "
		}
		for _, c := range column.report.Checks {
			if c.Prediction != nil {
				lines = append(lines, fmt.Sprintf("%s%s: %.4g predicted at %s (90 %%: %s)", name, c.Function, c.Prediction.Value,
					figures.PlaceText(c.Fit.Parameters, c.Target), phrase.Interval(c.Prediction.Low, c.Prediction.High)))
			}
			if !math.IsNaN(c.Wall) {
				lines = append(lines, fmt.Sprintf("%s%s: within %.6g up to %s = %s", name, c.Function, *c.Expectation.Max, c.Fit.Parameters[0],
					phrase.WallCell(c.Wall).Text))
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
func (r *Report) wide() *table.Table {
	columns := []table.Column{{Key: "function", Fixed: true}, {Key: "what", Title: "expectation"}}
	for _, c := range r.columns {
		label := cmp.Or(c.label, "data")
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
