package report

import (
	"strings"
	"testing"

	"slackline/analyze/profile"
	"slackline/analyze/scaling"
	"slackline/internal/phrase"
)

// TestExpectationWords: the answer is that of the verdict on the whole; what was skipped is not called met, and a failure that was expected
// is no surprise.
func TestExpectationWords(t *testing.T) {
	outcome := func(v scaling.Verdict) scaling.Outcome { return scaling.Outcome{Verdict: v} }
	known := scaling.Outcome{Verdict: scaling.Fail, XFail: "issue 7"}
	litmus := scaling.Outcome{Verdict: scaling.Fail, Litmus: true}
	pass, fail, open, skipped := outcome(scaling.Pass), outcome(scaling.Fail), outcome(scaling.Inconclusive), outcome(scaling.Skipped)
	for _, tc := range []struct {
		verdict scaling.Verdict
		checks  []scaling.Outcome
		want    string
	}{
		{scaling.Pass, []scaling.Outcome{pass}, "Yes: the expectation is met."},
		{scaling.Pass, []scaling.Outcome{pass, pass}, "Yes: all 2 expectations are met."},
		{scaling.Pass, []scaling.Outcome{pass, skipped}, "Yes: of 2 expectations, 1 met and 1 skipped."},
		{scaling.Inconclusive, []scaling.Outcome{skipped, skipped}, "This cannot be decided: of 2 expectations, 2 skipped."},
		{scaling.Pass, []scaling.Outcome{pass, known}, "Yes: of 2 expectations, 1 met and 1 not met, which does not count."},
		{scaling.Pass, []scaling.Outcome{pass, litmus}, "Yes: of 2 expectations, 1 met and 1 not met, which does not count."},
		{scaling.Fail, []scaling.Outcome{pass, fail, fail, known},
			"No: of 4 expectations, 1 met, 2 not met and 1 not met, which does not count."},
		{scaling.Fail, []scaling.Outcome{open, fail}, "No: of 2 expectations, 1 not met and 1 cannot be decided."},
		{scaling.Inconclusive, []scaling.Outcome{open, pass}, "This cannot be decided: of 2 expectations, 1 met and 1 cannot be decided."},
	} {
		for split := range len(tc.checks) + 1 { // expectations and rules count alike
			r := &scaling.Report{Verdict: tc.verdict}
			for i, o := range tc.checks {
				if i < split {
					r.Checks = append(r.Checks, &scaling.Check{Outcome: o})
				} else {
					r.Rules = append(r.Rules, &scaling.RuleCheck{Outcome: o})
				}
			}
			if got := expectationWords(r); got != tc.want {
				t.Errorf("%+v: %q, want %q", tc.checks, got, tc.want)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{"": "no call", "main/f": "`main/f`", "a`b`": "`a'b'`"} {
		if got := code(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if capital("") != "" || capital("x y") != "X y" {
		t.Errorf("%q, %q", capital(""), capital("x y"))
	}
	want := "slackline report 'my run.slt' --machine chic"
	if got := command("report", []string{"my run.slt"}, []string(nil), "--machine", "chic"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBrief: of long names the middle is left out, of long sentences too, but no word of them is cut.
func TestBrief(t *testing.T) {
	text := func(n int, s string) string {
		all := ""
		for range n {
			all += s
		}
		return all
	}
	for _, tc := range []struct{ name, text, want string }{
		{"short", "main/solve", "main/solve"},
		{"as long as allowed", text(200, "x"), text(200, "x")},
		{"one too long", text(201, "x"), text(100, "x") + " … " + text(100, "x")},
		{"letters, not bytes", text(200, "ü"), text(200, "ü")},
		{"a sentence", text(300, "ab ") + "end.", text(300, "ab ") + "end."},
		{"a long sentence", text(1000, "ab ") + "end.", text(333, "ab ")[:998] + " … " + text(331, "ab ") + "end."},
	} {
		if got := brief(tc.text); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	long := "slackline " + text(300, "z") // commands are shown whole
	if got, want := prose("a<b `x&y` `"+long+"`"), "a&lt;b <code>x&amp;y</code> <code>"+long+"</code>"; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := cell("main/`f`"), "main/<wbr/><code>f</code>"; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := "<span>a</span> <span>&#39;b</span> <span>c&#39;</span> <span>&lt;d&gt;</span>"
	if got := typed("a 'b c' <d>"); string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	for share, want := range map[float64]string{0: "width:0.00%", 0.125: "width:12.50%", -3: "width:0.00%", 7: "width:100.00%"} {
		if got := barWidth(share); string(got) != want {
			t.Errorf("%g: %s, want %s", share, got, want)
		}
	}
}

// TestPercentsStayTogether: no line of a page ends between a number and its percent sign.
func TestPercentsStayTogether(t *testing.T) {
	for text, want := range map[string]string{
		"89.9 % of `5 % x`, < 0.1 % more": "89.9\u00a0% of <code>5 % x</code>, &lt;\u00a00.1\u00a0% more",
		"0.7 % 22 other causes":           "0.7\u00a0% 22 other causes",
	} {
		if got := string(prose(text)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFactorsOfCommunication: the factors that are named are those whose product it is.
func TestFactorsOfCommunication(t *testing.T) {
	for _, unknown := range []float64{1, 0.5} {
		a := &analyzed{efficiency: &profile.Efficiency{Communication: 0.36 * unknown, Serialization: 0.6, Transfer: 0.6, NotAnalyzed: unknown}}
		product, named := 1.0, ""
		for _, m := range a.meters()[3:] {
			product *= m.Value
			named += " × " + phrase.Lower(m.Name)
		}
		if m := a.meters()[2]; product != m.Value || !strings.HasSuffix(m.Meaning, ": "+strings.TrimPrefix(named, " × ")) {
			t.Errorf("%+v, but the product is %g of%s", m, product, named)
		}
	}
}
