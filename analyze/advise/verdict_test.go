package advise_test

import (
	"strings"
	"testing"

	"slackline/analyze/advise"
	"slackline/model/schedule"
)

// TestJudge holds the advice on an imbalanced program against what became of it.
func TestJudge(t *testing.T) {
	slow := func(last int64) schedule.Program { // rank 3 computes for longer than the others
		return imbalanced(func(r int) int64 { return 100*us + last*us*int64(r/3) })
	}
	even := func(each int64) schedule.Program { return imbalanced(func(int) int64 { return each * us }) }
	const balance = "balance:even@main/solve"
	for _, tc := range []struct {
		name     string
		after    schedule.Program
		state    string // of the balancing
		cameTrue bool
		sentence string
	}{
		{"balanced", even(175), advise.Made, true, "less than before. Of the predicted gains, that of " + balance},
		{"balanced, and slower", even(500), advise.Made, false, "more than before. Of the predicted gains"},
		{"most of it", slow(75), advise.PartlyMade, false, "less than before; all predicted gains are still open."},
		{"nothing", slow(300), advise.Open, false, "takes as long as before; all predicted gains are still open."},
		{"worse", slow(600), advise.Open, false, "more than before; all predicted gains are still open."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := advise.Search(t.Context(), advise.Question{Scenario: on(slow(300))})
			if err != nil {
				t.Fatal(err)
			}
			v, err := advise.Judge(t.Context(), r, on(tc.after), 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(v.Changes) == 0 || v.Changes[0].Text != balance || v.Changes[0].State != tc.state {
				t.Errorf("changes %+v, want first %s, which is %s", v.Changes, balance, tc.state)
			}
			if got := v.CameTrue != nil && *v.CameTrue; got != tc.cameTrue {
				t.Errorf("came true: %t, want %t; gain %g", got, tc.cameTrue, v.Gain)
			}
			if !strings.Contains(v.Sentence, tc.sentence) {
				t.Errorf("%q, want %q in it", v.Sentence, tc.sentence)
			}
		})
	}
}

// TestJudgeWithoutAdvice wants nothing to be called open where nothing was predicted.
func TestJudgeWithoutAdvice(t *testing.T) {
	now := on(imbalanced(func(int) int64 { return 100 * us }))
	run, err := advise.Search(t.Context(), advise.Question{Scenario: now})
	if err != nil {
		t.Fatal(err)
	}
	run.Advice = nil
	v, err := advise.Judge(t.Context(), run, now, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := "The run takes as long as before; no gain was predicted."; v.Sentence != want || len(v.Changes) != 0 {
		t.Errorf("%q, want %q", v.Sentence, want)
	}
}
