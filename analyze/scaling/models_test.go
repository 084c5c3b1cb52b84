package scaling

import (
	"math"
	"math/rand/v2"
	"testing"

	"slackline/model/dataset"
)

// threeFunctions are measured over p: setup always takes 100, solve takes p and output p/10; the messages are p.
func threeFunctions() *dataset.Dataset {
	d := dataset.New("p")
	for _, p := range []float64{4, 8, 16, 32, 64, 128} {
		d.Get("setup", "time").Add([]float64{p}, 100)
		d.Get("solve", "time").Add([]float64{p}, p)
		d.Get("solve", "messages").Add([]float64{p}, p)
		d.Get("output", "time").Add([]float64{p}, p/10)
	}
	return d
}

// TestDominating: what takes longest at a place comes first, by metric; the shares of a metric sum up to 1.
func TestDominating(t *testing.T) {
	list, err := Models(threeFunctions(), Options{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		at    float64
		order []string
		first float64 // share
	}{
		{10, []string{"setup time", "solve time", "output time", "solve messages"}, 100.0 / 111},
		{10000, []string{"solve time", "output time", "setup time", "solve messages"}, 10000.0 / 11100},
	} {
		ranked := Dominating(list, []float64{tc.at})
		if len(ranked) != len(tc.order) {
			t.Fatalf("%d call paths", len(ranked))
		}
		sums := map[string]float64{}
		for i, r := range ranked {
			if got := r.Fit.CallPath + " " + r.Fit.Metric; got != tc.order[i] {
				t.Errorf("at %g, number %d is %s, want %s", tc.at, i, got, tc.order[i])
			}
			sums[r.Fit.Metric] += r.Share
		}
		if math.Abs(ranked[0].Share-tc.first) > 1e-6 || math.Abs(sums["time"]-1) > 1e-12 || sums["messages"] != 1 {
			t.Errorf("at %g: the first has %g, want %g; the sums are %v", tc.at, ranked[0].Share, tc.first, sums)
		}
	}
	if got := Dominating([]Modelled{{}}, []float64{1}); len(got) != 0 {
		t.Errorf("without a model: %v", got)
	}
}

// TestTargetPlace: parameters that a target does not name have their largest value.
func TestTargetPlace(t *testing.T) {
	d := dataset.New("p", "n")
	d.Get("f", "time").Add([]float64{4, 100}, 1)
	d.Get("f", "time").Add([]float64{16, 50}, 1)
	for _, tc := range []struct {
		target Target
		want   [2]float64
	}{
		{Target{Named: map[string]float64{"p": 1024}}, [2]float64{1024, 100}},
		{Target{Named: map[string]float64{"n": 7}}, [2]float64{16, 7}},
		{Target{Named: map[string]float64{"n": 7, "p": 8}}, [2]float64{8, 7}},
		{Target{Value: 7}, [2]float64{7, 100}}, // a number alone is that of the first
	} {
		at, err := tc.target.Place(d)
		if err != nil || len(at) != 2 || at[0] != tc.want[0] || at[1] != tc.want[1] {
			t.Errorf("%+v is at %v, %v; want %v", tc.target, at, err, tc.want)
		}
	}
	if _, err := (&Target{Named: map[string]float64{"q": 7}}).Place(d); err == nil {
		t.Error("a parameter that the data do not have is taken")
	}
}

// TestStatus: the word of an outcome, with what was expected of it, and how it counts.
func TestStatus(t *testing.T) {
	for _, tc := range []struct {
		o      Outcome
		status string
		counts Verdict
	}{
		{Outcome{Verdict: Pass}, "pass", Pass}, {Outcome{Verdict: Fail}, "fail", Fail},
		{Outcome{Verdict: Inconclusive}, "inconclusive", Inconclusive},
		{Outcome{Verdict: Skipped}, "skipped", Pass}, {Outcome{Verdict: Fail, XFail: "x"}, "xfail", Pass},
		{Outcome{Verdict: Pass, XFail: "x"}, "xpass", Pass}, {Outcome{Verdict: Inconclusive, XFail: "x"}, "inconclusive", Inconclusive},
		{Outcome{Verdict: Fail, Litmus: true}, "fail", Pass},
	} {
		if got := tc.o.Status(); got != tc.status || tc.o.Counts() != tc.counts {
			t.Errorf("%+v: %s, counts as %s", tc.o, got, tc.o.Counts())
		}
	}
}

// TestNegativeConstant: a law with a constant below 0 is found if the measurements are exact enough; a positive law never has one.
func TestNegativeConstant(t *testing.T) {
	m, err := newModeler([]string{"p"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fit := func(law func(p float64) float64, from, points, repetitions int, noise float64, r *rand.Rand) *Fit {
		d := dataset.New("p")
		for i := range points {
			p := math.Pow(2, float64(from+i))
			for range repetitions {
				d.Get("f", "time").Add([]float64{p}, law(p)*math.Exp(noise*r.NormFloat64()))
			}
		}
		f, err := m.fit(d.Series[0])
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	r := rand.New(rand.NewPCG(21, 22))
	minus := func(p float64) float64 { return p - 1 }
	for _, tc := range []struct {
		name         string
		law          func(p float64) float64
		from, points int
		noise        float64
		lead         string
	}{
		{"p - 1", minus, 1, 5, 0, "p"}, {"p - 1", minus, 1, 12, 0, "p"}, {"p - 1", minus, 3, 8, 0, "p"},
		{"p - 1", minus, 1, 12, 0.002, "p"},
		{"log p - 1/2", func(p float64) float64 { return math.Log2(p) - 0.5 }, 1, 8, 0.002, "log p"},
		{"3 sqrt(p) - 2", func(p float64) float64 { return 3*math.Sqrt(p) - 2 }, 1, 8, 0, "p^(1/2)"},
	} {
		f := fit(tc.law, tc.from, tc.points, 3, tc.noise, r)
		if far := 65536.; f.Leads[0].landau("p") != tc.lead || f.Model.constant() >= 0 || math.Abs(f.Model.Eval(far)/tc.law(far)-1) > 0.01 {
			t.Errorf("%s at %d points from 2^%d, noise %g: %s, %s", tc.name, tc.points, tc.from, tc.noise, f.Leads[0].landau("p"), f.Model.String())
		}
	}
	negative := 0
	for range 10_000 {
		exponent, logs, constant := float64(r.IntN(9))/4, float64(r.IntN(3)), math.Exp(6*r.NormFloat64())
		f := fit(func(p float64) float64 { return constant + math.Pow(p, exponent)*math.Pow(math.Log2(p), logs) }, r.IntN(5), 5+r.IntN(6),
			1+r.IntN(3), []float64{0, 0.001, 0.01, 0.05, 0.2}[r.IntN(5)], r)
		if f.Model.constant() < 0 {
			negative++
		}
	}
	if negative > 1 {
		t.Errorf("%d of 10,000 positive laws have a constant below 0", negative)
	}
}
