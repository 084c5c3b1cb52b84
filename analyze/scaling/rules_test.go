package scaling

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"slackline/model/dataset"
)

// slow is a kind of rule for the test: functions that are expected to grow.
type slow []string

func (s slow) functions() []string { return s }

func (s slow) check(c *RuleCheck, fits []*Fit) error {
	for i, f := range fits {
		if f.Form == Constant {
			c.Verdict, c.Reason = Fail, s[i]+" does not grow"
		}
	}
	return nil
}

// TestRuleKind adds a kind of rule by one line in the table.
func TestRuleKind(t *testing.T) {
	defer func(before []RuleKind) { ruleKinds = before }(ruleKinds)
	ruleKinds = append(ruleKinds[:len(ruleKinds):len(ruleKinds)], RuleKind{
		Name: "slow", Short: "functions that grow", Example: "Bcast, Reduce",
		parse: func(text string) (ruleTest, error) {
			if text == "" {
				return nil, errors.New("no function is given")
			}
			return slow(strings.Split(text, ", ")), nil
		},
	})
	d := &dataset.Dataset{Parameters: []string{"p"}}
	for _, series := range []struct {
		name  string
		value func(p float64) float64
	}{{"grows", func(p float64) float64 { return 3 * p }}, {"stays", func(float64) float64 { return 7 }}} {
		s := &dataset.Series{CallPath: series.name, Metric: "time"}
		for p := 2.0; p <= 256; p *= 2 {
			v := series.value(p)
			s.Points = append(s.Points, dataset.Point{At: []float64{p}, Values: []float64{v, v, v}})
		}
		d.Series = append(d.Series, s)
	}
	e, err := ParseExpectations("test", []byte(`rules:
  - {slow: grows, target: 1024}
  - {slow: "grows, stays", metric: time}
  - grows <= 2 stays
  - {slow: missing, optional: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Judge(e, d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"pass", "fail: stays does not grow", "fail: violated at the largest measured point, [256]",
		"skipped: missing is not in the data"} {
		c := r.Rules[i]
		got := c.Verdict.String()
		if c.Reason != "" {
			got += ": " + c.Reason
		}
		if got != want {
			t.Errorf("rule %d: %s, want %s", i, got, want)
		}
	}
	for text, want := range map[string]string{
		"rules: [{slow: a, rule: a <= b}]": "an entry is one rule; split it into 2",
		"rules: [{slow: ''}]":              "no function is given",
		"rules: [{slwo: a}]":               "slow",
	} {
		if _, err := ParseExpectations("test", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

// TestRulesOfOneQuantity: a rule compares one metric in one unit.
func TestRulesOfOneQuantity(t *testing.T) {
	d := dataset.New("p")
	for _, s := range []struct{ function, metric, unit string }{{"f", "time", "s"}, {"g", "visits", ""}, {"g", "time", "us"},
		{"h", "time", "s"}, {"k", "visits", ""}} {
		for p := 2.0; p <= 64; p *= 2 {
			d.Get(s.function, s.metric).Add([]float64{p}, p)
		}
		d.Get(s.function, s.metric).Unit = s.unit
	}
	for rule, want := range map[string]string{
		"f <= 2 h": "pass ",
		"f <= 2 g": "inconclusive g is in us, another function in s: they cannot be compared",
		"f <= 2 k": "the data have no metric time of k, only visits",
	} {
		e, err := ParseExpectations("test", []byte("rules: ["+rule+"]"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Judge(e, d, Options{})
		got := fmt.Sprint(err)
		if err == nil {
			got = r.Rules[0].Verdict.String() + " " + r.Rules[0].Reason
		}
		if !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", rule, got, want)
		}
	}
}

// TestRuleLeap: a value that leaps above the bound at the largest point does not hide itself by making the models inexact.
func TestRuleLeap(t *testing.T) {
	for _, tc := range []struct {
		leap float64 // of A at 1024, in parts of B
		want string
	}{
		{0.5, "pass: "}, {1.5, "inconclusive: violated at the largest measured point, [1024], by more than the noise"},
		{2, "inconclusive: violated at the largest measured point, [1024], by more than the noise"}, {4, "fail: "},
	} {
		d := dataset.New("p")
		for p := 4.; p <= 1024; p *= 2 {
			a := 1 + p/1000
			if p == 1024 {
				a = tc.leap * 2 * p
			}
			for r := range 3 {
				noise := 1 + 0.002*float64(r)
				d.Get("A", "time").Add([]float64{p}, a*noise)
				d.Get("B", "time").Add([]float64{p}, 2*p*noise)
			}
		}
		if got := verdictOf(t, "rules: [A <= B]", d); !strings.HasPrefix(got, tc.want) {
			t.Errorf("a leap to %g times the bound: %s, want %s", tc.leap, got, tc.want)
		}
	}
}
