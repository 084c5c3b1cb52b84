package tables

import (
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
