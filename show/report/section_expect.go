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
	counts := map[scaling.Verdict]int{}
	for _, c := range r.Checks {
		counts[c.Verdict]++
	}
	for _, c := range r.Rules {
		counts[c.Verdict]++
	}
	total := len(r.Checks) + len(r.Rules)
	if counts[scaling.Fail] == 0 && counts[scaling.Inconclusive] == 0 {
		return fmt.Sprintf("Yes: all %s are met.", phrase.Plural(total, "expectation"))
	}
	var words []string
	for _, v := range []scaling.Verdict{scaling.Pass, scaling.Fail, scaling.Inconclusive, scaling.Skipped} {
		if n := counts[v]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, map[scaling.Verdict]string{
				scaling.Pass: "met", scaling.Fail: "not met", scaling.Inconclusive: "cannot be decided", scaling.Skipped: "skipped",
			}[v]))
		}
	}
	answer := "No"
	if counts[scaling.Fail] == 0 {
		answer = "This cannot be decided"
	}
	return fmt.Sprintf("%s: of %s, %s.", answer, phrase.Plural(total, "expectation"), list(words))
}

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
