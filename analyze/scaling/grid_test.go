package scaling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"slackline/model/dataset"
)

// lineDesign are the points of a sparse design of three parameters: a line along each, the others at their smallest
// value, and those at which two or three parameters have their middle value.
func lineDesign(axes [3][]float64) [][]float64 {
	var points [][]float64
	for i, x := range axes[0] {
		for j, y := range axes[1] {
			for k, z := range axes[2] {
				zeros, middles := 0, 0
				for a, place := range []int{i, j, k} {
					if place == 0 {
						zeros++
					} else if place == len(axes[a])/2 {
						middles++
					}
				}
				if zeros >= 2 || zeros+middles == 3 {
					points = append(points, []float64{x, y, z})
				}
			}
		}
	}
	return points
}

var threeAxes = [3][]float64{{16, 32, 64, 128, 256}, {10, 20, 40, 80, 160}, {2, 3, 5, 9, 17}}

// planted is a model of three parameters.
type planted struct {
	name  string
	leads [3]string
	form  Form
	y     func(p, n, m float64) float64
}

var plantedModels = []planted{
	{"constant", [3]string{"1", "1", "1"}, Constant, func(p, n, m float64) float64 { return 7 }},
	{"third", [3]string{"1", "1", "m^2"}, Single, func(p, n, m float64) float64 { return 3 + 0.2*m*m }},
	{"pair", [3]string{"log p", "1", "m"}, Product, func(p, n, m float64) float64 { return 1 + 0.5*math.Log2(p)*m }},
	{"pair sum", [3]string{"1", "n", "m"}, Sum, func(p, n, m float64) float64 { return 4 + 0.2*n + 1.5*m }},
	{"product", [3]string{"sqrt(p)", "n", "log m"}, Product, func(p, n, m float64) float64 { return 0.3 * math.Sqrt(p) * n * math.Log2(m) }},
	{"product and base", [3]string{"p", "n", "m"}, Product, func(p, n, m float64) float64 { return 30 + 0.01*p*n*m }},
	{"strong scaling", [3]string{"1/p", "n^2", "m"}, Product, func(p, n, m float64) float64 { return n * n * m / p }},
	{"sum", [3]string{"p", "n", "m"}, Sum, func(p, n, m float64) float64 { return 0.2*p + 0.4*n + 5*m }},
	{"first alone", [3]string{"log p", "n", "m"}, FirstAlone, func(p, n, m float64) float64 { return 3*math.Log2(p) + 0.2*n*m }},
	{"second alone", [3]string{"p", "n^2", "m"}, SecondAlone, func(p, n, m float64) float64 { return 2 + 0.1*p*m + 0.01*n*n }},
	{"third alone", [3]string{"p", "n", "m^2"}, ThirdAlone, func(p, n, m float64) float64 { return 0.05*p*n + m*m }},
}

// measure makes a series of the model at points, with normal relative noise.
func (x *planted) measure(points [][]float64, repetitions int, noise float64, random *rand.Rand) *dataset.Dataset {
	d := dataset.New("p", "n", "m")
	for _, at := range points {
		var values []float64
		for range repetitions {
			values = append(values, x.y(at[0], at[1], at[2])*(1+noise*random.NormFloat64()))
		}
		d.Get("main", "time").Add(at, values...)
	}
	return d
}

// right reports whether a fit has the leads and the form of the model.
func (x *planted) right(t *testing.T, f *Fit) bool {
	t.Helper()
	want := make([]Term, 3)
	for i, text := range x.leads {
		var err error
		if want[i], err = ParseTerm(text); err != nil {
			t.Fatal(err)
		}
	}
	return f.Form == x.form && slices.Equal(f.Leads, want)
}

func everyPoint(axes [3][]float64) [][]float64 {
	var points [][]float64
	for _, x := range axes[0] {
		for _, y := range axes[1] {
			for _, z := range axes[2] {
				points = append(points, []float64{x, y, z})
			}
		}
	}
	return points
}

// TestThreeParameters recovers planted models: exactly without noise, nearly always with 2 % of it.
func TestThreeParameters(t *testing.T) {
	wrong := 0
	for _, x := range plantedModels {
		for name, points := range map[string][][]float64{"lines": lineDesign(threeAxes), "all": everyPoint(threeAxes)} {
			d := x.measure(points, 1, 0, rand.New(rand.NewPCG(0, 0)))
			f, err := modeler(t, d, Options{}).fit(d.Series[0])
			if err != nil {
				t.Fatalf("%s, %s: %v", x.name, name, err)
			}
			if !x.right(t, f) || f.Confidence < 0.999 || f.SMAPE > 1e-9 || f.Doubt != "" {
				t.Errorf("%s, %s: %s %s, confidence %g, error %g %%, doubt %q", x.name, name, f.Landau(), f.Model.String(), f.Confidence,
					f.SMAPE, f.Doubt)
			}
			if want := x.y(1000, 300, 40); math.Abs(f.Predict(1000, 300, 40).Value/want-1) > 1e-9 {
				t.Errorf("%s, %s: %g at 1000, 300, 40, want %g", x.name, name, f.Predict(1000, 300, 40).Value, want)
			}
		}
		for seed := range uint64(3) {
			d := x.measure(lineDesign(threeAxes), 5, 0.02, rand.New(rand.NewPCG(seed, 1)))
			f, err := modeler(t, d, Options{}).fit(d.Series[0])
			if err != nil {
				t.Fatalf("%s: %v", x.name, err)
			}
			if !x.right(t, f) {
				t.Logf("%s, seed %d: %s with confidence %.2f", x.name, seed, f.Landau(), f.Confidence)
				wrong++
			}
		}
	}
	if wrong > 2 {
		t.Errorf("%d of %d noisy series have other leads than planted, want at most 2", wrong, 3*len(plantedModels))
	}
}

// TestTriplesBySums compares the fits of hypotheses of three parameters with those by their columns.
func TestTriplesBySums(t *testing.T) {
	x := plantedModels[4]
	d := x.measure(lineDesign(threeAxes), 2, 0.3, rand.New(rand.NewPCG(1, 1)))
	m := modeler(t, d, Options{selected: 5})
	c, err := newSample(d.Series[0], 3, Auto)
	if err != nil {
		t.Fatal(err)
	}
	g := m.design(c, nil)
	hyps, groups := g.list()
	ws := &workspace{}
	g.fit(ws, c)
	top := slices.Max(c.value)
	compared := 0
	for i := range hyps {
		h := &hyps[i]
		phi, terms := g.columnsOf(h)
		u := solveColumns(phi, c.value, top)
		chi := 0.0
		for n, a := range c.value {
			sum := 0.0
			for k := range phi {
				sum += u[k] * phi[k][n]
			}
			chi += (1 - sum*top/a) * (1 - sum*top/a)
		}
		if slices.Min(u) > 1e-6 && ws.fits[i].finite() {
			compared++
			if math.Abs(chi-ws.fits[i].chi) > 1e-6*chi {
				t.Errorf("%v %v: chi %g, by columns %g", groups[h.group].leads, h.columns, ws.fits[i].chi, chi)
			}
		} else if slices.Min(u) > 1e-6 && slices.Max(u) < 1e6 || slices.Min(u) < -1e-6 && ws.fits[i].finite() {
			t.Errorf("%v %v: coefficients %v, but dropped = %t", groups[h.group].leads, h.columns, u, !ws.fits[i].finite())
		}
		for k, term := range terms { // what a column is, at a point
			if got := term.eval(c.at[3]); math.Abs(got-phi[k][3]) > 1e-12*math.Abs(got) {
				t.Errorf("%v %v: column %d is %g at %v, its term %g", groups[h.group].leads, h.columns, k, phi[k][3], c.at[3], got)
			}
		}
	}
	if compared < 500 {
		t.Errorf("%d of %d hypotheses compared, want most", compared, len(hyps))
	}
}

// TestSelectedTerms: more candidates than are selected change no lead, and hardly a weight.
func TestSelectedTerms(t *testing.T) {
	for _, i := range []int{4, 9} {
		x := plantedModels[i]
		d := x.measure(lineDesign(threeAxes), 3, 0.05, rand.New(rand.NewPCG(3, 1)))
		few, err := modeler(t, d, Options{}).fit(d.Series[0])
		if err != nil {
			t.Fatal(err)
		}
		many, err := modeler(t, d, Options{selected: 20}).fit(d.Series[0])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(few.Leads, many.Leads) || few.Form != many.Form || math.Abs(few.Confidence-many.Confidence) > 0.05 {
			t.Errorf("%s: %s with %.3f, among more candidates %s with %.3f", x.name, few.Landau(), few.Confidence, many.Landau(), many.Confidence)
		}
	}
}

// TestJudgeThreeParameters: each parameter is judged by its own expectation, and the worst counts.
func TestJudgeThreeParameters(t *testing.T) {
	d := plantedModels[9].measure(lineDesign(threeAxes), 3, 0.01, rand.New(rand.NewPCG(1, 2))) // p m + n^2
	for expect, want := range map[string]Verdict{
		"O(p * m + n^2)": Pass, "O(p * n^2 * m)": Pass, "Theta(p * n^2 * m)": Pass, "O(p * m + n)": Fail, "O(m + n^2)": Fail,
		"O(p * m^2 + n^2)": Pass, "Theta(p * m^3 + n^2)": Fail,
	} {
		e, err := ParseExpectations("three.yaml", fmt.Appendf(nil, "expectations: [{function: main, expect: %s}]", expect))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Judge(e, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != want {
			t.Errorf("%s: %v, want %v; the model is %s", expect, r.Verdict, want, r.Checks[0].Fit.Model.String())
		}
	}
	b, err := NewBaseline(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Models[0].Expect; got != "O(p * m + n^2)" {
		t.Errorf("the baseline expects %s", got)
	}
	if r, err := CompareBaseline(b, d, Options{}, 0.05); err != nil || r.Verdict != Pass {
		t.Errorf("the data against their own baseline: %v, %v", r, err)
	}
}

// TestBootstrapThreeParameters: resamples of a clear law have its lead and coefficient.
func TestBootstrapThreeParameters(t *testing.T) {
	d := plantedModels[8].measure(lineDesign(threeAxes), 4, 0.01, rand.New(rand.NewPCG(2, 2))) // 3 log p + 0.2 n m
	list, err := Resample(t.Context(), d, Options{}, Resampling{Resamples: 30, Seed: 1, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	b := list[0]
	if b.Same < 0.8 || b.Coefficient < 2.8 || b.Coefficient > 3.2 || b.Interval.Low > 3 || b.Interval.High < 3 {
		t.Errorf("same %g, coefficient %g in %v", b.Same, b.Coefficient, b.Interval)
	}
	if p, want := b.Predict(1024, 100, 20), 30.0+400; p.Low > want || p.High < want {
		t.Errorf("%v at 1024, 100, 20, want %g within", p, want)
	}
}

// TestThreeParametersNeedLines: points that are nowhere on a line allow no conclusion.
func TestThreeParametersNeedLines(t *testing.T) {
	var points [][]float64
	for i := range 20 {
		points = append(points, []float64{float64(2 + i), float64(3 + i*7%20), float64(5 + i*3%20)})
	}
	d := plantedModels[5].measure(points, 2, 0.01, rand.New(rand.NewPCG(2, 2)))
	f, err := modeler(t, d, Options{}).fit(d.Series[0])
	if err != nil {
		t.Fatal(err)
	}
	if want := "no more than 1 value of p with the other parameters unchanged; at least 5 are needed"; f.Doubt != want {
		t.Errorf("doubt %q, want %q", f.Doubt, want)
	}
}

// TestAlikeColumns: on lines that begin at p = 1 the columns of log p and of log p f(n) are the same. Such hypotheses had a determinant
// of rounding errors, by which they won, with coefficients of rounding errors.
func TestAlikeColumns(t *testing.T) {
	for _, parameters := range [][]string{{"p", "n"}, {"p", "n", "m"}} {
		d := dataset.New(parameters...)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 20 {
			for _, at := range lineDesign([3][]float64{{1, 2, 4, 8, 16}, {3, 9, 27, 81, 243}, {1, 2, 3, 4, 5}}) {
				if len(parameters) == 3 || at[2] == 1 && (at[0] == 1 || at[1] == 3) {
					d.Get(fmt.Sprint("f", i), "time").Add(at[:len(parameters)], (1+float64(i)/10*math.Log2(at[0]))*(1+0.02*random.NormFloat64()))
				}
			}
		}
		m := modeler(t, d, Options{})
		for _, s := range d.Series {
			f, err := m.fit(s)
			if err != nil {
				t.Errorf("%v, %s: %v", parameters, s.CallPath, err)
				continue
			}
			for _, term := range f.Model.Terms {
				if !(term.Coefficient > 0) || f.SMAPE > 5 {
					t.Errorf("%v, %s: %s, off by %.1f %%", parameters, s.CallPath, &f.Model, f.SMAPE)
				}
			}
		}
	}
}

// TestLandauOfForms: which parameters are multiplied can be read.
func TestLandauOfForms(t *testing.T) {
	linear := Term{Poly: newRat(1, 1)}
	for form, want := range map[Form][2]string{
		Product: {"O(p * n * m)", "p*n*m"}, Sum: {"O(p + n + m)", "p"},
		FirstAlone: {"O(p + n * m)", "p"}, SecondAlone: {"O(p * m + n)", "p*m"}, ThirdAlone: {"O(p * n + m)", "p*n"},
	} {
		names, leads := []string{"p", "n", "m"}, []Term{linear, linear, linear}
		text := ""
		for i, factor := range form.leading(leads) {
			if factor != (Term{}) {
				if text != "" {
					text += "*"
				}
				text += names[i]
			}
		}
		if got := [2]string{Landau(names, leads, form), text}; got != want {
			t.Errorf("%v: %v, want %v", form, got, want)
		}
	}
}
