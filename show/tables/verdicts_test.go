package tables

import (
	"math"
	"testing"

	"slackline/analyze/scaling"
)

// A verdict is explained by its reason, by an expected failure and by its notes.
func TestVerdicts(t *testing.T) {
	tab := Verdicts([]Verdict{
		{Name: "solve", Kind: "expectation", Metric: "time", Expect: "p", Found: "p^2", Formula: "3 * p^2", Rank: "none",
			Outcome: &scaling.Outcome{Verdict: scaling.Fail, Reason: "too steep", XFail: "known", Notes: []string{"few points"}}},
		{Name: "<root>", Kind: "expectation", Outcome: &scaling.Outcome{Verdict: scaling.Inconclusive}},
		{Name: "a < b", Kind: "rule", Outcome: &scaling.Outcome{Verdict: scaling.Pass}, holds: "holds"},
	})
	wantText(t, tab.Pick("verdict", "name", "expected", "result", "why"), `
verdict       function         expected        found         why
xfail         solve            p               p^2, 3 * p^2  too steep; failure expected: known; few points
inconclusive  (the whole run)                  -
pass          a < b            the rule holds  holds`)
	for i, want := range []string{"good", "unsure", "good"} {
		if got := tab.Rows[i][1].Mark; got != want {
			t.Errorf("row %d is marked %q, want %q", i, got, want)
		}
	}
}

// Only a rule that was found to hold is said to hold: one whose functions were not measured is not.
func TestRuleResults(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		check scaling.RuleCheck
		want  string
	}{
		{scaling.RuleCheck{Crossover: nan}, "holds"},
		{scaling.RuleCheck{Crossover: nan, Outcome: scaling.Outcome{Verdict: scaling.Skipped, Reason: "solve is not in the data"}}, "-"},
		{scaling.RuleCheck{Crossover: nan, Outcome: scaling.Outcome{Verdict: scaling.Inconclusive}}, "-"},
		{scaling.RuleCheck{Crossover: nan, Outcome: scaling.Outcome{Verdict: scaling.Fail}}, "-"},
		{scaling.RuleCheck{Crossover: 8123.45678, Outcome: scaling.Outcome{Verdict: scaling.Inconclusive}}, "violated from 8123 on"},
		{scaling.RuleCheck{Crossover: nan, Violated: [][]float64{{2}}, Outcome: scaling.Outcome{Verdict: scaling.Inconclusive}},
			"violated at 1 measured point"},
		{scaling.RuleCheck{Crossover: 4, Violated: [][]float64{{4}, {8}}, Outcome: scaling.Outcome{Verdict: scaling.Fail}},
			"violated at 2 measured points"},
	} {
		tc.check.Rule = &scaling.Rule{Text: "a <= b"}
		list := VerdictsOf("new", &scaling.Report{Rules: []*scaling.RuleCheck{&tc.check}})
		tab := Verdicts(list).Pick("data", "expected", "result")
		if got := tab.Rows[0]; got[2].Text != tc.want || got[1].Text != "the rule holds" || got[0].Text != "new" {
			t.Errorf("%s with crossover %g and violations %v: %q, want %q", tc.check.Verdict, tc.check.Crossover, tc.check.Violated,
				got[2].Text, tc.want)
		}
	}
}

// Expectations come before rules, in the order of the file; one without a model has none to show.
func TestVerdictsOf(t *testing.T) {
	expect, err := scaling.ParseExpression("log2(p)")
	if err != nil {
		t.Fatal(err)
	}
	check := &scaling.Check{Function: "solve", Metric: "time", Expectation: &scaling.Expectation{Expect: expect},
		Outcome: scaling.Outcome{Verdict: scaling.Skipped, Reason: "not in the data", Litmus: true, Notes: []string{"a", "b"}}}
	list := VerdictsOf("", &scaling.Report{
		Rules:  []*scaling.RuleCheck{{Rule: &scaling.Rule{Text: "a <= b"}, Crossover: math.NaN()}},
		Checks: []*scaling.Check{check},
	})
	if len(list) != 2 || list[0].Kind != "expectation" || list[1].Kind != "rule" {
		t.Fatalf("verdicts %+v", list)
	}
	if v := list[0]; v.Name != "solve" || v.Expect != expect.Text || v.Found+v.Formula+v.Rank != "" {
		t.Errorf("verdict %+v", v)
	}
	if got, want := list[0].Explanation(), "not in the data; litmus test; a; b"; got != want {
		t.Errorf("explanation %q, want %q", got, want)
	}
	if got := (&Verdict{Outcome: &scaling.Outcome{}}).Explanation(); got != "" {
		t.Errorf("a pass is explained by %q", got)
	}
}
