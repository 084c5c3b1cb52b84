package report

import (
	"fmt"

	"slackline/analyze/scaling"
	"slackline/internal/phrase"
	"slackline/model/unit"
	"slackline/show/figures"
)

// subtitle is one line about the inputs.
func (s *story) subtitle() string {
	a := s.main()
	if a == nil {
		return fmt.Sprintf("%s over %s", phrase.Plural(s.in.Data.Measurements(), "measurement"), phrase.List(s.in.Data.Parameters))
	}
	where := "recorded"
	switch {
	case a.run.Machine != "":
		where = "simulated on " + a.run.Machine
	case a.run.Timeline.Simulated:
		where = "simulated"
	}
	text := fmt.Sprintf("%s, %s, %s", phrase.Plural(a.timeline.Ranks, "rank"), a.runTime().Short(), where)
	if n := len(s.runs) - 1; n > 0 {
		text += fmt.Sprintf("; compared with %s", phrase.Plural(n, "further run"))
	}
	return text
}

// fix is the first advice; nil: nothing gains enough, or nothing could be tried.
func (s *story) fix() *Fix {
	if s.advice.value == nil || s.advice.err != nil || len(s.advice.value.Advice) == 0 {
		return nil
	}
	a := &s.advice.value.Advice[0]
	return &Fix{Text: a.Say(), Change: a.Text, Path: a.Target, Gain: a.Gain, Command: a.Command}
}

// summary is the report in three sentences.
func (s *story) summary(fix *Fix) []string {
	if s.main() == nil {
		return s.dataSummary()
	}
	if a := s.main(); a.empty() {
		return []string{fmt.Sprintf("No time passes in %s: there is nothing to report but its contents.", code(a.run.Name))}
	}
	return []string{s.usefulSentence(), s.causeSentence(fix), s.futureSentence()}
}

func (s *story) usefulSentence() string {
	a := s.main()
	return fmt.Sprintf("%s ran for %s on %s, and %s of that time was useful work.", code(a.run.Name), a.runTime().Short(),
		phrase.Plural(a.timeline.Ranks, "process"), phrase.Percent(a.efficiency.Parallel, 1))
}

func (s *story) causeSentence(fix *Fix) string {
	a := s.main()
	waiting := a.waits.Totals.Waiting.Amount.Over(a.waits.Time())
	causes := a.waits.DelaysByPath()
	if len(causes) == 0 || waiting < 0.01 {
		return "The processes hardly wait for each other, so there is little to gain from a better balance."
	}
	c := causes[0]
	text := fmt.Sprintf("The processes%s spend %s of their time waiting for each other, and %s of that is due to %s", a.devices(),
		phrase.Percent(waiting, 1), phrase.Percent(a.waits.Share(c.Sum()), 1), code(a.name(c.Path)))
	switch {
	case fix == nil:
	case fix.Path == a.name(c.Path):
		return text + fmt.Sprintf("; fixing it would make the run about %s shorter.", phrase.Percent(fix.Gain, 1))
	default:
		return text + fmt.Sprintf("; what pays most, %s, would make the run about %s shorter.", code(fix.Change), phrase.Percent(fix.Gain, 1))
	}
	return text + "."
}

func (s *story) futureSentence() string {
	switch {
	case s.judged.asked && s.judged.err == nil && s.judged.value.Verdict == scaling.Fail:
		return "It does not scale as expected: " + firstFailure(s.judged.value)
	case s.scale.value != nil && s.scale.err == nil && len(s.scale.value.points) > 1:
		points := s.scale.value.points
		first, last := points[0].Distribution(), points[len(points)-1].Distribution()
		growth := unit.SumOf(last.Median - first.Median).Over(unit.SumOf(first.Median))
		if growth < 0.05 {
			return fmt.Sprintf("With the same work per process it would take about as long on %s.", phrase.Plural(last.Ranks, "process"))
		}
		return fmt.Sprintf("With the same work per process it would take %s longer on %s.", phrase.Percent(growth, 1), phrase.Plural(last.Ranks,
			"process"))
	case s.judged.asked && s.judged.err == nil:
		if s.judged.value.Verdict == scaling.Inconclusive {
			return "Whether it scales as expected cannot be decided yet."
		}
		return "It scales as expected."
	}
	return "How it does at larger scale is not part of this report, or could not be answered."
}

// firstFailure is the first expectation that is not met.
func firstFailure(r *scaling.Report) string {
	for _, c := range r.Checks {
		if c.Counts() == scaling.Fail && c.Fit != nil {
			return fmt.Sprintf("%s grows as %s instead of %s.", code(c.Function), c.Fit.Landau(), c.Expectation.Expect.Text)
		}
	}
	for _, c := range r.Rules {
		if c.Counts() == scaling.Fail {
			return fmt.Sprintf("the rule %s does not hold.", code(c.Rule.Text))
		}
	}
	return "an expectation is not met."
}

// dataSummary sums up a report of measurements alone.
func (s *story) dataSummary() []string {
	sentences := []string{fmt.Sprintf("The report is about %s of %s.", phrase.Plural(s.in.Data.Measurements(), "measurement"),
		phrase.Plural(len(s.in.Data.Functions()), "function"))}
	if s.models.err == nil {
		if place, err := s.place(); err == nil {
			if ranked := scaling.Dominating(s.usable(), place); len(ranked) > 0 {
				sentences = append(sentences, s.modelWords(ranked, figures.PlaceText(s.data.Parameters, place)))
			}
		}
	}
	if s.judged.asked && s.judged.err == nil {
		return append(sentences, "Does it scale as expected? "+expectationWords(s.judged.value))
	}
	return append(sentences, "Whether that is as expected was not checked.")
}
