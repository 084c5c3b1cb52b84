package scaling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"slackline/model/dataset"
)

// series makes measurements of a law with symmetric noise.
func series(rng *rand.Rand, x []float64, noise float64, law func(float64) float64) *dataset.Series {
	s := &dataset.Series{CallPath: "main->f", Metric: "time"}
	for _, v := range x {
		var reps []float64
		for range 5 {
			reps = append(reps, law(v)*(1+noise*rng.NormFloat64()))
		}
		s.Add([]float64{v}, reps...)
	}
	return s
}

func octaves(from, to int) []float64 {
	var x []float64
	for i := from; i <= to; i++ {
		x = append(x, math.Exp2(float64(i)))
	}
	return x
}

func one(t testing.TB, o Options) *Modeler {
	t.Helper()
	m, err := newModeler([]string{"p"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSegments looks for two laws where there are two, and where there is one.
func TestSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := octaves(2, 13)
	m := one(t, Options{})
	find := func(s *dataset.Series) *Segments {
		f, err := m.fit(s)
		if err != nil {
			t.Fatal(err)
		}
		return m.segments(f)
	}
	const runs = 100
	for _, noise := range []float64{0.005, 0.02, 0.05} {
		found, placed, wrong := 0, 0, 0
		for range runs {
			s := find(series(rng, x, noise, func(p float64) float64 {
				if p <= 128 {
					return 10 + 2*math.Log2(p)
				}
				return 60 + 0.1*p
			}))
			if s != nil {
				found++
				if s.Before == 128 && s.After == 256 {
					placed++
				}
			}
			leads := append(append([]Term{}, growing...), decreasing...)
			lead := leads[rng.IntN(len(leads))]
			if find(series(rng, x, noise, func(p float64) float64 { return 1 + 5*lead.Eval(p)/lead.Eval(512) })) != nil {
				wrong++
			}
		}
		t.Logf("noise %g: %d of %d found, %d placed; %d wrong", noise, found, runs, placed, wrong)
		if found < 95 || placed < 90 || wrong > 2 {
			t.Errorf("noise %g: %d found, %d at the right place, %d where there is one law", noise, found, placed, wrong)
		}
	}
	many := make([]float64, 500) // not all places are tried: one near to the change is found
	for i := range many {
		many[i] = float64(i + 1)
	}
	s := find(series(rng, many, 0.02, func(p float64) float64 {
		if p <= 200 {
			return 10 + 2*math.Log2(p)
		}
		return 60 + 0.5*p
	}))
	if s == nil || math.Abs(s.Before-200) > 8 || s.After != s.Before+1 {
		t.Errorf("500 points: %+v", s)
	}
	if s := find(series(rng, octaves(2, 10), 0.01, func(p float64) float64 { return p })); s != nil {
		t.Error("nine points have segments")
	}
}

// TestCoverage counts how often the truth at 16 times the largest point lies in
// the interval that is widened by the noise.
func TestCoverage(t *testing.T) {
	within, all := 0, 0
	for _, cell := range []string{"p5-g02", "p6-g02", "p8-g02", "p5-g05", "p6-g05", "p8-g05"} {
		d := load(t, "cases/"+cell+".json")
		var truths map[string]truth
		loadJSON(t, "cases/"+cell+".truth.json", &truths)
		m := modeler(t, d, Options{})
		for _, s := range d.Series {
			tr := truths[s.CallPath]
			if tr.term("p").growth() < 0 {
				continue
			}
			f, err := m.fit(s)
			if err != nil {
				t.Fatal(err)
			}
			x := 16 * f.Largest()[0]
			value := 0.0
			for _, p := range tr.Parts {
				value += p.Coefficient * p.Term.term().Eval(x)
			}
			p := f.Predict(x)
			all++
			if p.MeasuredLow <= value && value <= p.MeasuredHigh {
				within++
			}
			if !(p.Low <= p.High && p.MeasuredLow <= p.Low && p.High <= p.MeasuredHigh) {
				t.Fatalf("%s %s: interval %+v", cell, s.CallPath, p)
			}
		}
	}
	if rate := float64(within) / float64(all); rate < 0.88 {
		t.Errorf("%.1f %% of %d lie within, want 88", 100*rate, all)
	} else {
		t.Logf("%.1f %% of %d lie within", 100*rate, all)
	}
}

func TestOutliers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := series(rng, octaves(2, 9), 0.01, func(p float64) float64 { return 3 + p })
	m := one(t, Options{})
	f, err := m.fit(s)
	if err != nil {
		t.Fatal(err)
	}
	if list := f.outliers(); len(list) != 0 {
		t.Errorf("outliers in clean data: %+v", list)
	}
	s.Points[3].Values[2] *= 1.5
	if f, err = m.fit(s); err != nil {
		t.Fatal(err)
	}
	list := f.outliers()
	if len(list) == 0 || list[0].Point || list[0].At[0] != s.Points[3].At[0] || list[0].Value != s.Points[3].Values[2] {
		t.Errorf("outliers %+v", list)
	}
	if len(f.Values) != 8 {
		t.Errorf("%d points, want all 8", len(f.Values))
	}
}

// TestSuggest measures where it is suggested, and must learn from it.
func TestSuggest(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	law := func(p float64) float64 { return 20 + 0.5*p }
	m := one(t, Options{})
	before, after := 0.0, 0.0
	for range 30 {
		s := series(rng, octaves(3, 7), 0.03, law)
		f, err := m.fit(s)
		if err != nil {
			t.Fatal(err)
		}
		list := f.Suggest()
		if len(list) != maxSuggestions || list[0].Gain < list[1].Gain {
			t.Fatalf("suggestions %+v", list)
		}
		before += f.Confidence
		x := list[0].At[0]
		s.Add([]float64{x}, series(rng, []float64{x}, 0.03, law).Points[0].Values...)
		if f, err = m.fit(s); err != nil {
			t.Fatal(err)
		}
		after += f.Confidence
	}
	if after < before+2 {
		t.Errorf("mean confidence %.3f before the suggested measurement, %.3f after it", before/30, after/30)
	}
	t.Logf("mean confidence %.3f before the suggested measurement, %.3f after it", before/30, after/30)
}

// TestDoubtfulData gives no confident answer where there cannot be one.
func TestDoubtfulData(t *testing.T) {
	make := func(values ...float64) *dataset.Series {
		s := &dataset.Series{CallPath: "f", Metric: "t"}
		for i := 0; i+1 < len(values); i += 2 {
			s.Add([]float64{values[i]}, values[i+1])
		}
		return s
	}
	m := one(t, Options{})
	for name, tc := range map[string]struct {
		series *dataset.Series
		err    string
		doubt  string
	}{
		"nothing":      {make(), "no measurements", ""},
		"zero x":       {make(0, 1, 1, 2, 2, 3, 3, 4, 4, 5), "a parameter is 0", ""},
		"negative x":   {make(-1, 1, 1, 2, 2, 3, 3, 4, 4, 5), "a parameter is -1", ""},
		"below 1":      {make(0.5, 1, 1, 2, 2, 3, 3, 4, 4, 5), "", "below 1"},
		"negative y":   {make(1, 1, 2, -2, 3, 3, 4, 4, 5, 5), "a value is -2", ""},
		"zero y":       {make(1, 1, 2, 0, 3, 3, 4, 4, 5, 5), "a value is 0", ""},
		"NaN":          {make(1, 1, 2, math.NaN(), 3, 3, 4, 4, 5, 5), "a value is NaN", ""},
		"infinite":     {make(1, 1, 2, math.Inf(1), 3, 3, 4, 4, 5, 5), "a value is +Inf", ""},
		"one point":    {make(4, 1), "", "1 distinct"},
		"two points":   {make(4, 1, 8, 2), "", "2 distinct"},
		"four points":  {make(4, 1, 8, 2, 16, 4, 32, 8), "", "4 distinct"},
		"huge numbers": {make(1, 1e300, 2, 2e300, 4, 4e300, 8, 8e300, 16, 1.6e301), "", ""},
		"too huge":     {make(1, 1e304, 2, 2e304, 4, 4e304, 8, 8e304, 16, 1.6e305), "they can be modeled from", ""},
		"too tiny":     {make(1, 1e-318, 2, 2e-318, 4, 4e-318, 8, 8e-318, 16, 1.6e-317), "they can be modeled from", ""},
		"too far":      {make(1, 1e-20, 2, 1, 4, 2, 8, 3, 16, 1e20), "they can be modeled from", ""},
		"tiny numbers": {make(1, 1e-300, 2, 2e-300, 4, 4e-300, 8, 8e-300, 16, 1.6e-299), "", ""},
	} {
		f, err := m.fit(tc.series)
		switch {
		case tc.err != "":
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v, want an error with %q", name, err, tc.err)
			}
		case err != nil && tc.doubt == "":
			t.Errorf("%s: %v", name, err)
		case err == nil && !strings.Contains(f.Doubt, tc.doubt):
			t.Errorf("%s: doubt %q, want %q", name, f.Doubt, tc.doubt)
		case err == nil && tc.doubt == "" && f.Leads[0] != term("0", "1", "0"):
			t.Errorf("%s: %s", name, &f.Model)
		}
	}
	// Identical values are a constant, also if they are 0.
	for _, v := range []float64{0, 7, -3} {
		f, err := m.fit(make(1, v, 2, v, 4, v, 8, v, 16, v))
		if err != nil || f.Confidence != 1 || f.Leads[0] != (Term{}) || f.Model.String() != fmt.Sprint(v) {
			t.Errorf("all values %g: %v, %v", v, f, err)
		}
	}
	if _, err := newModeler([]string{"a", "b", "c", "d"}, Options{}); err == nil {
		t.Error("four parameters are no error")
	}
	if _, err := newModeler([]string{"a", "b"}, Options{Method: Paper}); err == nil {
		t.Error("the method of the paper with two parameters is no error")
	}
}

// TestOrder shuffles the measurements: nothing may change.
func TestOrder(t *testing.T) {
	d := load(t, "cases/pq-g05.json")
	m := modeler(t, d, Options{})
	rng := rand.New(rand.NewPCG(7, 8))
	for _, s := range d.Series[:20] {
		a, err := m.fit(s)
		if err != nil {
			t.Fatal(err)
		}
		shuffled := &dataset.Series{CallPath: s.CallPath, Metric: s.Metric}
		for _, i := range rng.Perm(len(s.Points)) {
			values := append([]float64{}, s.Points[i].Values...)
			rng.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
			shuffled.Add(s.Points[i].At, values...)
		}
		b, err := m.fit(shuffled)
		if err != nil {
			t.Fatal(err)
		}
		if a.Confidence != b.Confidence || a.Model.String() != b.Model.String() {
			t.Errorf("%s: %s (%v), shuffled %s (%v)", s.CallPath, &a.Model, a.Confidence, &b.Model, b.Confidence)
		}
	}
}

// TestPaperMethod recovers laws without noise by adjusted R2, and counts how
// often with noise, beside what was measured elsewhere.
func TestPaperMethod(t *testing.T) {
	for cell, want := range map[string]float64{"p5-none": 78.3, "p6-g05": 44.2, "p8-x10": 50.8, "k8-none": 66.7, "k6-x10": 26.7} {
		d := load(t, "cases/"+cell+".json")
		var truths map[string]truth
		loadJSON(t, "cases/"+cell+".truth.json", &truths)
		m := modeler(t, d, Options{Method: Paper})
		exact := 0
		for _, s := range d.Series {
			f, err := m.fit(s)
			if err != nil {
				t.Fatal(err)
			}
			if f.Leads[0] == truths[s.CallPath].term("p") {
				exact++
			}
			if !math.IsNaN(f.Confidence) && !f.sample.equal {
				t.Fatalf("%s: the method of the paper has a confidence", cell)
			}
		}
		rate := 100 * float64(exact) / float64(len(d.Series))
		t.Logf("%s: %.1f %%, elsewhere %.1f %%", cell, rate, want)
		if math.Abs(rate-want) > 2.6 {
			t.Errorf("%s: %.1f %% exact, want about %.1f", cell, rate, want)
		}
	}
}
