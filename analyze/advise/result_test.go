package advise

import (
	"strings"
	"testing"

	"slackline/model/unit"
)

// TestSay: the advice as a sentence, with the interval of the gain if there is one, and with what it assumes.
func TestSay(t *testing.T) {
	a := Advice{Sentence: "Balancing `main/solve`", Gain: 0.25, Low: 0.25, High: 0.25, RunTime: unit.Nanoseconds(30 * unit.Microsecond),
		Before: unit.Nanoseconds(40 * unit.Microsecond)}
	for _, tc := range []struct {
		low, high float64
		assumes   string
		want      string
	}{
		{0.25, 0.25, "", "Balancing `main/solve` saves 25.0 % of the run time: 30us instead of 40us."},
		{0.2501, 0.2504, "", "Balancing `main/solve` saves 25.0 % of the run time: 30us instead of 40us."},
		{0.2, 0.3, "", "Balancing `main/solve` saves 25.0 % (20.0 to 30.0 %) of the run time: 30us instead of 40us."},
		{-0.0001, 0.251, "", "Balancing `main/solve` saves 25.0 % (0 to 25.1 %) of the run time: 30us instead of 40us."},
		{0.25, 0.25, "no rank needs it", "Balancing `main/solve` saves 25.0 % of the run time: 30us instead of 40us. " +
			"This holds if no rank needs it."},
	} {
		a.Low, a.High, a.Assumes = tc.low, tc.high, tc.assumes
		if got := a.Say(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestNothing: whether anything pays is said with the noise below which nothing does.
func TestNothing(t *testing.T) {
	r := &Result{Noise: Floor{Share: 0.034}}
	if got, want := r.Nothing(), "Nothing here pays more than 3.4 %."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if r.Advice = []Advice{{}}; r.Nothing() != "" {
		t.Errorf("%q, but there is advice", r.Nothing())
	}
	var order []string
	r = &Result{Advice: []Advice{{Text: "a"}, {Text: "b"}}, Upgrades: []Advice{{Text: "c"}}}
	r.Each(func(a *Advice) { order = append(order, a.Text) })
	if strings.Join(order, "") != "abc" {
		t.Errorf("advice in the order %v", order)
	}
}
