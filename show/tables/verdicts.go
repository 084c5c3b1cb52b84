package tables

import (
	"fmt"
	"math"
	"strings"

	"slackline/analyze/scaling"
	"slackline/internal/phrase"
	"slackline/internal/table"
)

// Verdict is one verdict of a check with its words, whatever it is about.
type Verdict struct {
	Label   string // of the dataset
	Kind    string // expectation, rule, baseline
	Name    string // of the function, or the rule
	Metric  string
	Expect  string
	Found   string // lead of the model
	Formula string
	Rank    string
	Outcome *scaling.Outcome

	holds string // of a rule: from where on it is violated
}

// VerdictsOf are all verdicts of a report, in the order of the file.
func VerdictsOf(label string, r *scaling.Report) []Verdict {
	var list []Verdict
	for _, c := range r.Checks {
		list = append(list, VerdictOf(label, "expectation", c))
	}
	for _, c := range r.Rules {
		list = append(list, Verdict{Label: label, Kind: "rule", Name: c.Rule.Text, Metric: c.Metric, Outcome: &c.Outcome, holds: crossover(c)})
	}
	return list
}

// VerdictOf is the verdict on one model.
func VerdictOf(label, kind string, c *scaling.Check) Verdict {
	v := Verdict{Label: label, Kind: kind, Name: c.Function, Metric: c.Metric, Expect: c.Expectation.Expect.Text, Outcome: &c.Outcome}
	if c.Fit != nil {
		v.Found, v.Formula, v.Rank = c.Fit.Landau(), c.Fit.Model.String(), c.Rank.String()
	}
	return v
}

// crossover is from where on a rule is violated; "-" where that is not known, such as without measurements.
func crossover(c *scaling.RuleCheck) string {
	switch {
	case len(c.Violated) > 0:
		return fmt.Sprintf("violated at %s", phrase.Plural(len(c.Violated), "measured point"))
	case !math.IsNaN(c.Crossover):
		return fmt.Sprintf("violated from %.4g on", c.Crossover)
	case c.Verdict == scaling.Pass:
		return "holds"
	}
	return "-"
}

// Explanation is why the verdict is what it is, with its notes.
func (v *Verdict) Explanation() string {
	var parts []string
	if v.Outcome.Reason != "" {
		parts = append(parts, v.Outcome.Reason)
	}
	if v.Outcome.XFail != "" {
		parts = append(parts, "failure expected: "+v.Outcome.XFail)
	}
	if v.Outcome.Litmus {
		parts = append(parts, "litmus test")
	}
	return strings.Join(append(parts, v.Outcome.Notes...), "; ")
}

// Verdicts has a row for each verdict: its parts as the expectation file has them, and in words (expected, result).
func Verdicts(list []Verdict) *table.Table {
	t := table.Of("data", "verdict", "function", "name=function", "metric", "expect", "expected", "found", "result=found", "rank", "why")
	t.Columns[2].Short = phrase.ShortPath
	for i := range list {
		v := &list[i]
		expected, result := v.Expect, "-"
		switch {
		case v.Kind == "rule":
			expected, result = "the rule holds", v.holds
		case v.Formula != "":
			result = v.Found + ", " + v.Formula
		}
		mark := map[scaling.Verdict]string{scaling.Pass: "good", scaling.Fail: "bad", scaling.Inconclusive: "unsure"}[v.Outcome.Counts()]
		t.Add(v.Label, table.Cell{Text: v.Outcome.Status(), Value: v.Outcome.Status(), Mark: mark}, v.Name, Path(v.Name), v.Metric, v.Expect,
			expected, v.Found, result, v.Rank, v.Explanation())
	}
	return t
}
