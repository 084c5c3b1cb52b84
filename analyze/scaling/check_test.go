package scaling

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slackline/model/dataset"
)

// exit codes of the verdicts
var codes = map[Verdict]int{Pass: 0, Fail: 3, Inconclusive: 4}

// TestWorkedVerdicts judges the worked cases.
func TestWorkedVerdicts(t *testing.T) {
	var want map[string]int
	loadJSON(t, "check/expected.json", &want)
	if len(want) != 9 {
		t.Fatalf("%d cases, want 9", len(want))
	}
	for name, code := range want {
		r := judgeFile(t, name)
		if codes[r.Verdict] != code {
			t.Errorf("%s: %s, want exit code %d", name, r.Verdict, code)
		}
	}
	r := judgeFile(t, "memory-wall")
	if c := r.Checks[0]; c.Wall != 5457 || c.Rank != NoMatch || c.Fit.Model.String() != "16 + 0.56 * p" {
		t.Errorf("memory wall at %v, rank %s, %s", c.Wall, c.Rank, &c.Fit.Model)
	}
	r = judgeFile(t, "rule-broken-later")
	// 1 + 0.02 p > 1.05 (20 + 6 log2 p) from about 8,000 on
	if x := r.Rules[0].Crossover; !(x > 1024 && x < 1024*1024) || len(r.Rules[0].Violated) != 0 {
		t.Errorf("crossover %v, violated at %v", x, r.Rules[0].Violated)
	}
}

func judgeFile(t *testing.T, name string) *Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(reference, "check", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := ParseExpectations(name+".yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Judge(e, load(t, "check/"+name+".json"), Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

const expectationText = `
note: |
  what we know
metric: time
limit: sqrt(p)
target: 65536
expectations:
  - {function: MPI_Bcast, expect: O(log p)}
  - function: main->solve->MPI_Allreduce
    metric: time
    expect: Theta(log p)
    limit: p^(1/4)
    space: {upper: p^3, halvings: 3, lower: [1, 2], add: [p^(3/5)]}
  - {function: MPI_Init, metric: MB, expect: O(p), max: 3072, target: {p: 4096}, xfail: "known, issue 7"}
  - {function: bcast_binary_tree, expect: O(log p), litmus: true, optional: true}
rules:
  - Allreduce <= Reduce + Bcast
  - {rule: "2 * main->f ≤ 1.5 g + h", metric: time, target: 100}
`

func TestParseExpectations(t *testing.T) {
	e, err := ParseExpectations("x.yaml", []byte(expectationText))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Checks) != 4 || len(e.Rules) != 2 {
		t.Fatalf("%d checks, %d rules", len(e.Checks), len(e.Rules))
	}
	a, b, c := e.Checks[0], e.Checks[1], e.Checks[2]
	if a.Metric != "time" || a.Limit.Text != "sqrt(p)" || a.Target.Value != 65536 || a.Line != 8 {
		t.Errorf("first: %+v", a)
	}
	if !b.Expect.Tight || b.Limit.Text != "p^(1/4)" || b.Space.Halvings != 3 || len(b.Space.Lower) != 2 || len(b.Space.Add) != 1 ||
		*b.Space.Upper != term("0", "3", "0") {
		t.Errorf("second: %+v", b)
	}
	if *c.Max != 3072 || c.Target.Named["p"] != 4096 || c.XFail != "known, issue 7" || c.Metric != "MB" {
		t.Errorf("third: %+v", c)
	}
	if !e.Checks[3].Litmus || !e.Checks[3].Optional {
		t.Errorf("fourth: %+v", e.Checks[3])
	}
	r := e.Rules[1].test.(*sums)
	if r.left[0] != (ruleTerm{2, "main->f"}) || r.right[0] != (ruleTerm{1.5, "g"}) || r.right[1] != (ruleTerm{1, "h"}) {
		t.Errorf("rule: %+v", r)
	}
	if m, err := ParseExpectations("mpi", MPIExpectations()); err != nil || len(m.Checks) != 13 || len(m.Rules) != 2 {
		t.Errorf("built-in expectations: %v", err)
	}
}

func TestBadExpectations(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "holds no expectation",
		"expectations: []":               "holds no expectation",
		"expectation: []":                `unknown key "expectation"; did you mean expectations?`,
		"expectations: 7":                "expectations must be a list",
		"expectations: [7]":              "must be keys with values",
		"expectations: [{function: f}]":  "is empty; give",
		"expectations: [{expect: O(p)}]": "no function",
		"expectations: [{function: f, expect: O(p}]":                 "",
		"expectations: [{function: f, expect: \"O(p\"}]":             "closing bracket",
		"expectations: [{function: f, expect: 3^k}]":                 "base 3",
		"expectations: [{function: f, expect: O(p), max: -1}]":       "not a number above 0",
		"expectations: [{function: f, expect: O(p), litmus: maybe}]": "neither true nor false",
		"rules: [a < b]":            "is not a rule",
		"rules: [a <= 2 * b + a]":   "is true whatever the times are",
		"rules: [a + a <= 2 a]":     "is true whatever the times are",
		"rules: [a <= ]":            "a function is missing",
		"rules: [a <= b + + c]":     "a function is missing",
		"rules: [0 * a <= b]":       "factor 0",
		"limit: [p]\nrules: [a<=b]": "limit is a list",
	} {
		_, err := ParseExpectations("x.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want something with %q", text, err, want)
		}
	}
}

// data makes a dataset of laws over p without noise.
func data(laws map[string]func(float64) float64) *dataset.Dataset {
	d := dataset.New("p")
	for _, name := range slices.Sorted(maps.Keys(laws)) {
		for _, x := range octaves(2, 9) {
			d.Get("main->"+name, "time").Add([]float64{x}, laws[name](x), laws[name](x))
		}
	}
	return d
}

var lawsOfTest = map[string]func(float64) float64{
	"log":      func(p float64) float64 { return 1 + math.Log2(p) },
	"linear":   func(p float64) float64 { return 1 + p },
	"inverse":  func(p float64) float64 { return 0.001 + 100/p },
	"floor":    func(p float64) float64 { return 10 + 100/p },
	"constant": func(p float64) float64 { return 7 },
	"half":     func(p float64) float64 { return 0.4 * (1 + p) },
}

func judged(t *testing.T, text string) *Report {
	t.Helper()
	e, err := ParseExpectations("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Judge(e, data(lawsOfTest), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVerdicts(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Verdict
	}{
		{"expectations: [{function: log, expect: O(log p)}]", Pass},
		{"expectations: [{function: log, expect: O(p)}]", Pass},
		{"expectations: [{function: log, expect: Theta(p)}]", Fail},
		{"expectations: [{function: log, expect: O(1)}]", Fail},
		{"expectations: [{function: constant, expect: O(1)}]", Pass},
		{"expectations: [{function: constant, expect: 1/p}]", Fail},
		{"expectations: [{function: linear, expect: O(log p)}]", Fail},
		{"expectations: [{function: linear, expect: O(log p), limit: p}]", Pass},
		{"expectations: [{function: inverse, expect: 1/p}]", Pass},
		{"expectations: [{function: floor, expect: 1/p}]", Fail}, // the floor
		{"expectations: [{function: linear, expect: O(p), max: 100}]", Pass},
		{"expectations: [{function: linear, expect: O(p), max: 100, target: 50}]", Pass},
		{"expectations: [{function: linear, expect: O(p), max: 100, target: 200}]", Fail},
		{"expectations: [{function: linear, expect: O(log p), litmus: true}]", Inconclusive}, // nothing else
		{"expectations: [{function: linear, expect: O(log p), litmus: true}, {function: log, expect: O(log p)}]", Pass},
		{"expectations: [{function: linear, expect: O(log p), xfail: false}]", Fail},
		{"rules: [{rule: linear <= half, xfail: false}]", Fail},
		{"expectations: [{function: linear, expect: O(log p), xfail: known}]", Pass},
		{"expectations: [{function: nothing, expect: O(log p), optional: true}, {function: log, expect: O(log p)}]", Pass},
		{"expectations: [{function: nothing, expect: O(log p), optional: true}]", Inconclusive},
		{"rules: [half <= linear]", Pass},
		{"rules: [linear <= half]", Fail},
		{"rules: [linear <= 3 half]", Pass},
		{"rules: [log <= linear]", Pass},
		{"rules: [0.001 linear <= log]", Inconclusive},               // later
		{"rules: [{rule: 0.001 linear <= log, target: 1000}]", Pass}, // not so far
	} {
		r := judged(t, tc.text)
		if r.Verdict != tc.want {
			t.Errorf("%s: %s, want %s", tc.text, r.Verdict, tc.want)
		}
	}
	r := judged(t, "expectations: [{function: linear, expect: O(log p)}, {function: half, expect: O(log p), litmus: true}]")
	if notes := r.Checks[0].Notes; len(notes) != 1 || notes[0] != NotePlatform || len(r.Checks[1].Notes) != 0 {
		t.Errorf("notes %q", notes)
	}
	r = judged(t, "expectations: [{function: linear, expect: O(p), xfail: known}]")
	if r.Checks[0].Status() != "xpass" || r.UnexpectedPasses() != 1 || r.Verdict != Pass {
		t.Errorf("unexpected pass: %s, %d, %s", r.Checks[0].Status(), r.UnexpectedPasses(), r.Verdict)
	}
	r = judged(t, "expectations: [{function: linear, expect: O(p), max: 100}]")
	if r.Checks[0].Wall != 99 {
		t.Errorf("wall %v, want 99", r.Checks[0].Wall)
	}
	for text, want := range map[string]string{
		"expectations: [{function: linaer, expect: O(p)}]":                 "did you mean linear?",
		"expectations: [{function: linear, metric: MB, expect: O(p)}]":     "no metric MB of linear, only time",
		"expectations: [{function: linear, expect: O(q)}]":                 "q, which is not a parameter",
		"expectations: [{function: linear, expect: O(p), limit: n}]":       "n, which is not a parameter",
		"expectations: [{function: linear, expect: O(p), limit: 1/p}]":     "decreases",
		"rules: [linear <= nothing]":                                       "no function nothing",
		"expectations: [{function: linear, expect: O(p), target: {q: 1}}]": "target names a parameter",
	} {
		e, err := ParseExpectations("x.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Judge(e, data(lawsOfTest), Options{}); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", text, err, want)
		}
	}
}

func TestBaseline(t *testing.T) {
	d := data(lawsOfTest)
	b, err := NewBaseline(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := b.Write(&text); err != nil {
		t.Fatal(err)
	}
	if b, err = ParseBaseline("base.json", text.Bytes()); err != nil || len(b.Models) != len(lawsOfTest) {
		t.Fatal(err)
	}
	compare := func(change func(map[string]func(float64) float64)) *Comparison {
		laws := maps.Clone(lawsOfTest)
		change(laws)
		c, err := CompareBaseline(b, data(laws), Options{}, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := compare(func(map[string]func(float64) float64) {}); c.Verdict != Pass {
		t.Errorf("nothing changed: %s", c.Verdict)
	}
	c := compare(func(l map[string]func(float64) float64) {
		l["log"] = func(p float64) float64 { return 1.2 * lawsOfTest["log"](p) }
	})
	if c.Verdict != Fail {
		t.Errorf("20 %% slower: %s", c.Verdict)
	}
	c = compare(func(l map[string]func(float64) float64) {
		l["log"] = func(p float64) float64 { return 0.001 + 0.001*p*p }
	})
	if c.Verdict != Fail {
		t.Errorf("another law: %s", c.Verdict)
	}
	if c = compare(func(l map[string]func(float64) float64) { delete(l, "log") }); c.Verdict != Inconclusive {
		t.Errorf("a function is missing: %s", c.Verdict)
	}
	const model = `{"function":"f","metric":"time","expect":"O(p)"}`
	if _, err := ParseBaseline("x", []byte(`{"slackline_baseline":1,"models":[`+model+`]}`)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "{}", `{"slackline_baseline":9}`, `{"slackline_baseline":1,"models":[{"function":"f","expect":"O("}]}`,
		`{"slackline_baseline":1,"models":[` + model + "," + model + `]}`,
		`{"slackline_baseline":1,"models":[{"function":"f","metric":"time","expect":"O(p)","expect":"O(1)"}]}`} {
		if _, err := ParseBaseline("x", []byte(bad)); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}

// A digit of a stored model cannot change unnoticed; who edits a model leaves out its checksum.
// Of a bandwidth less is worse, in level and law, and at a single point. A call path that only ends like that of the baseline is another
// one.
func TestBaselineDirection(t *testing.T) {
	of := func(path, metric string, law func(float64) float64) *dataset.Dataset {
		d := dataset.New("p")
		for _, x := range octaves(2, 9) {
			d.Get(path, metric).Add([]float64{x}, law(x), law(x))
		}
		return d
	}
	level := func(v float64) func(float64) float64 { return func(float64) float64 { return v } }
	butAt8 := func(v float64) func(float64) float64 {
		return func(p float64) float64 {
			if p == 8 {
				return v
			}
			return 100
		}
	}
	falling := func(p float64) float64 { return 2000 / p }
	for _, tc := range []struct {
		path, metric string
		then, now    func(float64) float64
		want         Verdict
	}{
		{"f", "bandwidth", level(100), level(50), Fail}, {"f", "bandwidth", level(50), level(100), Pass},
		{"f", "bandwidth", level(100), level(96), Pass}, {"f", "bandwidth", level(100), level(95), Fail},
		{"f", "bandwidth", level(1), falling, Fail}, {"f", "bandwidth", falling, level(2000), Pass},
		{"f", "generate", level(50), level(100), Fail}, {"f", "generate", level(100), level(50), Pass},
		{"main->f", "time", level(100), level(100), Inconclusive},
		// One point of eight, whose effect on the mean is within the tolerance.
		{"f", "time", level(100), butAt8(140), Inconclusive}, {"f", "time", level(100), butAt8(104), Pass},
		{"f", "bandwidth", level(100), butAt8(70), Inconclusive}, {"f", "bandwidth", level(100), butAt8(140), Pass},
	} {
		b, err := NewBaseline(of("f", tc.metric, tc.then), Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := CompareBaseline(b, of(tc.path, tc.metric, tc.now), Options{}, 0.05)
		if err != nil || c.Verdict != tc.want {
			t.Errorf("%s %s: %g to %g at 8: %v (%s), %v, want %v", tc.path, tc.metric, tc.then(8), tc.now(8), c.Verdict,
				c.Rows[0].Reason, err, tc.want)
		}
	}
}

func TestBaselineSums(t *testing.T) {
	b := &Baseline{Version: 1, Parameters: []string{"p"}, Models: []BaselineModel{
		{Function: "f", Metric: "time", Expect: "O(p)", Formula: "2 * p", Error: 0.25, Points: [][]float64{{8}, {16}},
			Values: []float64{1.5, 1e-7}},
	}}
	var text bytes.Buffer
	if err := b.Write(&text); err != nil {
		t.Fatal(err)
	}
	if _, err := ParseBaseline("b.json", text.Bytes()); err != nil {
		t.Fatalf("%s: %v", text.Bytes(), err)
	}
	for _, change := range [][2]string{
		{"1.5", "1.6"}, {"16", "18"}, {`"p"`, `"q"`}, {"O(p)", "O(1)"}, {"0.25", "0.2"}, {`"f"`, `"g"`}, {"e-7", "e-8"},
	} {
		bad := strings.Replace(text.String(), change[0], change[1], 1)
		_, err := ParseBaseline("b.json", []byte(bad))
		if bad == text.String() || err == nil || !strings.Contains(err.Error(), `is not what was written`) {
			t.Errorf("%s: %v", bad, err)
		}
		edited := regexp.MustCompile(`,"crc32c":"[0-9a-f]{8}"`).ReplaceAllString(bad, "")
		if _, err := ParseBaseline("b.json", []byte(edited)); edited == bad || err != nil {
			t.Errorf("%s: %v", edited, err)
		}
	}
}

func FuzzParseExpectations(f *testing.F) {
	f.Add([]byte(expectationText))
	f.Add(MPIExpectations())
	d := data(map[string]func(float64) float64{"f": lawsOfTest["log"]})
	f.Fuzz(func(t *testing.T, text []byte) {
		if e, err := ParseExpectations("x", text); err == nil {
			_, _ = Judge(e, d, Options{}) // must not panic
		}
	})
}

// A word that only says yes or no is not a reason for a failure.
func TestExpectedFailureNeedsReason(t *testing.T) {
	for _, word := range []string{"true", "True", "yes", "no", "off", `"false"`, `""`, `" "`, "0", "1", "null", "~", "[a]"} {
		for _, text := range []string{
			"expectations: [{function: linear, expect: O(log p), xfail: " + word + "}]",
			"rules: [{rule: linear <= half, xfail: " + word + "}]",
		} {
			if _, err := ParseExpectations("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "x.yaml:1:") {
				t.Errorf("%s: error %v, want one with the place", text, err)
			}
		}
	}
}

// A short name that fits several call paths says which was checked; a whole call path comes first.
func TestAmbiguousFunction(t *testing.T) {
	d := data(map[string]func(float64) float64{"a->solve": lawsOfTest["linear"], "b->solve": lawsOfTest["log"], "solver": lawsOfTest["log"]})
	slices.SortFunc(d.Series, func(a, b *dataset.Series) int { return strings.Compare(a.CallPath, b.CallPath) })
	for _, tc := range []struct {
		text, path string
		notes      int
	}{
		{"expectations: [{function: solve, expect: O(p)}]", "main->a->solve", 1},
		{"expectations: [{function: main/b/solve, expect: O(p)}]", "main->b->solve", 0},
		{"expectations: [{function: solver, expect: O(p)}]", "main->solver", 0},
	} {
		e, err := ParseExpectations("x.yaml", []byte(tc.text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Judge(e, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c := r.Checks[0]; c.CallPath != tc.path || len(c.Notes) != tc.notes || tc.notes > 0 && !strings.Contains(c.Notes[0], tc.path) {
			t.Errorf("%s: checked %s with notes %q, want %s and %d notes", tc.text, c.CallPath, c.Notes, tc.path, tc.notes)
		}
	}
}

// A comparison with a baseline that compared nothing is inconclusive.
func TestBaselineComparesNothing(t *testing.T) {
	laws := map[string]func(float64) float64{"linear": lawsOfTest["linear"]}
	d := data(laws)
	base, err := NewBaseline(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	verdict := func(b *Baseline, d *dataset.Dataset) Verdict {
		t.Helper()
		c, err := CompareBaseline(b, d, Options{}, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		return c.Verdict
	}
	if v := verdict(base, d); v != Pass {
		t.Errorf("the same data: %s, want pass", v)
	}
	if v := verdict(&Baseline{Version: 1, Parameters: []string{"p"}}, d); v != Inconclusive {
		t.Errorf("no models: %s, want inconclusive", v)
	}
	elsewhere := *base
	elsewhere.Models = slices.Clone(base.Models)
	elsewhere.Models[0].Points = nil
	for _, at := range base.Models[0].Points {
		elsewhere.Models[0].Points = append(elsewhere.Models[0].Points, []float64{at[0] + 0.5})
	}
	if v := verdict(&elsewhere, d); v != Inconclusive {
		t.Errorf("no common point: %s, want inconclusive", v)
	}
	zero := *base
	zero.Models = slices.Clone(base.Models)
	zero.Models[0].Values = make([]float64, len(base.Models[0].Values))
	if v := verdict(&zero, d); v != Inconclusive {
		t.Errorf("a baseline of zeros: %s, want inconclusive", v)
	}
	fewer := data(laws)
	fewer.Series[0].Points = fewer.Series[0].Points[:len(fewer.Series[0].Points)-1]
	if v := verdict(base, fewer); v != Inconclusive {
		t.Errorf("a point less than the baseline: %s, want inconclusive", v)
	}
	if less, err := NewBaseline(fewer, Options{}); err != nil || verdict(less, d) != Pass {
		t.Errorf("a point more than the baseline: %v, want pass", err)
	}
	for then, now := range map[string]string{"s": "ms", "": "s", "ms": "ms"} {
		d.Series[0].Unit = then
		b, err := NewBaseline(d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		d.Series[0].Unit = now
		if v := verdict(b, d); (v == Inconclusive) != (then != now) {
			t.Errorf("unit %q, in the baseline %q: %s", now, then, v)
		}
	}
	d.Series[0].Unit = ""
	other := *base
	other.Parameters = []string{"n"}
	if _, err := CompareBaseline(&other, d, Options{}, 0.05); err == nil || !strings.Contains(err.Error(), "parameters n, the data p") {
		t.Errorf("other parameters: %v, want an error that names them", err)
	}
	for _, text := range []string{`{"slackline_baseline":1,"parameters":["p"],"model":[]}`, `{"slackline_baseline":1,"models":[]} {}`,
		`{"slackline_baseline":1,"parameters":["p"],"models":[{"function":"f","metric":"m","expect":"O(p)","relative_error":0,"points":[[1,2]],"values":[1]}]}`} {
		if _, err := ParseBaseline("b.json", []byte(text)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

// TestLeap: a law that holds for all points but the largest does not pass, be it noisy or not; an outlier below it is no reason.
func TestLeap(t *testing.T) {
	laws := map[string]func(p float64) float64{
		"O(p)":       func(p float64) float64 { return 3 + p },
		"O(sqrt(p))": math.Sqrt,
		"O(p log p)": func(p float64) float64 { return p * math.Log2(p) },
	}
	for expect, law := range laws {
		for _, tc := range []struct {
			noise  []float64 // of the repetitions of a point
			factor float64   // of the largest point
			want   Verdict
		}{
			{[]float64{0.99, 1, 1.01}, 1, Pass}, {[]float64{0.99, 1, 1.01}, 16, Inconclusive}, {[]float64{1}, 16, Inconclusive},
			{[]float64{1}, 1, Pass}, {[]float64{0.99, 1, 1.01}, 1. / 16, Pass},
		} {
			d := dataset.New("p")
			for p := 2.; p <= 256; p *= 2 {
				factor := 1.0
				if p == 256 {
					factor = tc.factor
				}
				for _, x := range tc.noise {
					d.Get("f", "time").Add([]float64{p}, x*factor*law(p))
				}
			}
			e, err := ParseExpectations("x", []byte(fmt.Sprintf("expectations: [{function: f, expect: %q}]", expect)))
			if err != nil {
				t.Fatal(err)
			}
			r, err := Judge(e, d, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if c := r.Checks[0]; c.Verdict != tc.want {
				t.Errorf("%s, repetitions %v, the last point times %g: %v (%s), want %v", expect, tc.noise, tc.factor, c.Verdict, c.Reason, tc.want)
			} else if tc.want == Inconclusive && !strings.HasPrefix(c.Reason, "the value at the largest point, p = 256, is ") {
				t.Errorf("%s: %s", expect, c.Reason)
			}
		}
	}
}

// TestLeapOfOne: with two parameters, what leaps at the largest value of one of them, or at the largest point, does not pass.
func TestLeapOfOne(t *testing.T) {
	for _, tc := range []struct {
		leaps func(p, n float64) bool
		want  string
	}{
		{func(float64, float64) bool { return false }, ""},
		{func(p, n float64) bool { return p == 32 && n < 160 }, "4 of the 5 values at p = 32 are off the law of the others"},
		{func(p, n float64) bool { return p == 32 && n == 160 }, "the value at the largest point, p = 32, n = 160, is "},
		{func(p, n float64) bool { return p == 32 && n == 10 }, ""},
	} {
		d := dataset.New("p", "n")
		for p := 2.; p <= 32; p *= 2 {
			for n := 10.; n <= 160; n *= 2 {
				v := p * n
				if tc.leaps(p, n) {
					v *= 40
				}
				d.Get("f", "time").Add([]float64{p, n}, v, 1.01*v)
			}
		}
		e, err := ParseExpectations("x", []byte("expectations: [{function: f, expect: O(p * n)}]"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Judge(e, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c := r.Checks[0]; !strings.HasPrefix(c.Reason, tc.want) || (c.Verdict == Pass) != (tc.want == "") {
			t.Errorf("%v (%s), want %q", c.Verdict, c.Reason, tc.want)
		}
	}
}

// TestNoValue: a function without a value at a point where it was measured does not pass, unless it is optional or failed anyway.
func TestNoValue(t *testing.T) {
	table := "callpath,p,value\nf,2,1\nf,4,2\nf,8,3\nf,16,4\nf,32,5\nf,64,NaN\nf,128,\ng,2,99\ng,4,99\ng,8,99\ng,16,99\ng,32,99\n"
	const without = "inconclusive: f has no value at p = 128 and 1 point more"
	for text, want := range map[string]string{
		"expectations: [{function: f, expect: O(log p)}]":                 without,
		"expectations: [{function: f, expect: O(log p), optional: true}]": "pass: ",
		"expectations: [{function: f, expect: O(1)}]":                     "fail: ",
		"expectations: [{function: g, expect: O(1)}]":                     "pass: ",
		"rules: [f <= g]": without,
		"rules: [g <= f]": "fail: ",
	} {
		d, _, err := dataset.Read("x", []byte(table), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := verdictOf(t, text, d); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// verdictOf is the verdict and the reason of the only expectation or rule.
func verdictOf(t *testing.T, expectations string, d *dataset.Dataset) string {
	t.Helper()
	e, err := ParseExpectations("x", []byte(expectations))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Judge(e, d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := r.outcomes()[0]
	return fmt.Sprintf("%v: %s", o.Verdict, o.Reason)
}

// TestTurned: a value that is too good at the largest point alone does not turn a failure into success; nor does one elsewhere.
func TestTurned(t *testing.T) {
	for _, tc := range []struct {
		exponent float64
		at       float64 // where the value is multiplied
		factor   float64
		want     string
	}{
		{1, 2048, 1, "pass: "},
		{1, 2048, 0.01, "pass: "}, // it passes without it, too
		{2, 2048, 1, "fail: "},
		{2, 2048, 0.01, "inconclusive: without the 1 value at p = 2048 it fails: there, a value is 4.19e+04, and 4.194e+06 fits the others"},
		{2, 2048, 1e-9, "inconclusive: the value at the largest point, p = 2048, is 0.00419"},
		{1.6, 2048, 0.5, "inconclusive: without the 1 value at p = 2048 it fails"},
		{2, 1024, 0.01, "inconclusive: 57 % of the evidence is beyond the limit"},
	} {
		d := dataset.New("p")
		for p := 4.; p <= 2048; p *= 2 {
			v := math.Pow(p, tc.exponent)
			if p == tc.at {
				v *= tc.factor
			}
			d.Get("f", "time").Add([]float64{p}, v)
		}
		if got := verdictOf(t, "expectations: [{function: f, expect: O(p)}]", d); !strings.HasPrefix(got, tc.want) {
			t.Errorf("p^%g, times %g at %g: %s, want %s", tc.exponent, tc.factor, tc.at, got, tc.want)
		}
	}
	two := dataset.New("n", "p")
	for n := 1.; n <= 5; n++ {
		for p := 4.; p <= 128; p *= 2 {
			v := n * p * p
			if p == 128 {
				v /= 100
			}
			two.Get("f", "time").Add([]float64{n, p}, v)
		}
	}
	const want = "inconclusive: without the 5 values at p = 128 it fails"
	if got := verdictOf(t, "expectations: [{function: f, expect: O(n * p)}]", two); !strings.HasPrefix(got, want) {
		t.Errorf("two parameters: %s, want %s", got, want)
	}
}

// TestLessIsWorse: an upper bound says nothing of a bandwidth that collapses.
func TestLessIsWorse(t *testing.T) {
	for expect, want := range map[string]string{
		"O(p)":     "inconclusive: 100 % of the evidence is below the lower limit of O(p)",
		"O(1)":     "inconclusive: 100 % of the evidence is below the lower limit of O(1)",
		"O(1/p)":   "pass: ",
		"Theta(p)": "fail: ",
	} {
		for metric, want := range map[string]string{"bandwidth": want, "time": "pass: "} {
			if metric == "time" && expect == "Theta(p)" {
				continue
			}
			d := dataset.New("p")
			for p := 2.; p <= 64; p *= 2 {
				d.Get("f", metric).Add([]float64{p}, 5000/p)
			}
			if got := verdictOf(t, "expectations: [{function: f, expect: "+expect+"}]", d); !strings.HasPrefix(got, want) {
				t.Errorf("%s of a %s that is 5000/p: %s, want %s", expect, metric, got, want)
			}
		}
	}
}
