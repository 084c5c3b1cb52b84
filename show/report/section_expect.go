package report

import (
	"fmt"

	"slackline/analyze/scaling"
	"slackline/internal/phrase"
	"slackline/show/figures"
	"slackline/show/plot"
	"slackline/show/tables"
)

// tellExpectations reports whether measurements scale as expected.
func (s *story) tellExpectations(section *Section) *Missing {
	switch {
	case s.in.Expectations == nil:
		data := s.from
		if len(data) == 0 {
			data = []string{"runs.json"}
		}
		return &Missing{"no expectations were given", command("report", data, "--expectations", "expectations.yaml")}
	case !s.judged.asked:
		return &Missing{"expectations are held against measurements over several numbers of ranks, and none were given",
			command("report", "runs.json", "--expectations", s.in.Expectations.Name)}
	case s.judged.err != nil:
		section.doubt("The expectations cannot be checked: " + s.judged.err.Error())
		return nil
	}
	r := s.judged.value
	section.say(expectationWords(r))
	section.titled("Expectations", command("check", s.in.Expectations.Name, s.from),
		tables.Verdicts(tables.VerdictsOf("", r)).Pick("verdict", "name", "metric", "expected", "result", "why"))
	section.figure(s.expectationFigure(r))
	return nil
}

// expectationWords sums the verdicts up.
func expectationWords(r *scaling.Report) string {
	counts := map[string]int{}
	count := func(o *scaling.Outcome) {
		word := map[scaling.Verdict]string{
			scaling.Pass: "met", scaling.Fail: "not met", scaling.Inconclusive: "cannot be decided", scaling.Skipped: "skipped",
		}[o.Verdict]
		if o.Verdict == scaling.Fail && o.Counts() != scaling.Fail {
			word = uncounted
		}
		counts[word]++
	}
	for _, c := range r.Checks {
		count(&c.Outcome)
	}
	for _, c := range r.Rules {
		count(&c.Outcome)
	}
	total := len(r.Checks) + len(r.Rules)
	switch {
	case counts["met"] == total && total == 1:
		return "Yes: the expectation is met."
	case counts["met"] == total:
		return fmt.Sprintf("Yes: all %s are met.", phrase.Plural(total, "expectation"))
	}
	var words []string
	for _, word := range []string{"met", "not met", uncounted, "cannot be decided", "skipped"} {
		if n := counts[word]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, word))
		}
	}
	answer := map[scaling.Verdict]string{scaling.Pass: "Yes", scaling.Fail: "No", scaling.Inconclusive: "This cannot be decided"}[r.Verdict]
	return fmt.Sprintf("%s: of %s, %s.", answer, phrase.Plural(total, "expectation"), phrase.List(words))
}

// uncounted are failures that were expected, and those of litmus tests.
const uncounted = "not met, which does not count"

// expectationFigure draws the first expectation that is not met, or else the first.
func (s *story) expectationFigure(r *scaling.Report) *Figure {
	var chosen *scaling.Check
	for _, c := range r.Checks {
		if c.Fit != nil && (chosen == nil || chosen.Verdict == scaling.Pass && c.Verdict != scaling.Pass) {
			chosen = c
		}
	}
	if chosen == nil {
		return nil
	}
	f := &Figure{
		ID: "expected", Title: "Expected and found: " + chosen.Function,
		Caption: "What was measured, the model with its band, what was expected and the limits of that.",
		Command: command("check", s.in.Expectations.Name, s.from, "--plot", "check.svg", "--plot-function", chosen.Function),
		Data:    newTable("", "", right(chosen.Fit.Parameters[0]), right(chosen.Metric), right("model")),
		draw:    func(float64) plot.Figure { return figures.Expectation(chosen) },
	}
	for i, at := range chosen.Fit.At {
		f.Data.Add(tables.Number(at[0]), measure(chosen.Fit.Values[i], chosen.Fit), measure(chosen.Fit.Model.Eval(at...), chosen.Fit))
	}
	return f
}
