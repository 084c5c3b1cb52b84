package figures

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"slackline/analyze/scaling"
	"slackline/analyze/tolerance"
	"slackline/model/dataset"
	"slackline/show/plot"
)

// A model of two parameters is drawn over the first, at a value of the second.
func TestModel(t *testing.T) {
	csv := "p,n,value\n"
	for _, p := range []string{"2", "4", "8", "16", "32"} {
		for _, n := range []string{"10", "20", "30", "40", "50"} {
			csv += p + "," + n + ",1" + p + "\n" // 12, 14, 18, 116, 132
		}
	}
	d, _, err := dataset.Read("d.csv", []byte(csv), "")
	if err != nil {
		t.Fatal(err)
	}
	models, err := scaling.Models(d, scaling.Options{}, 1)
	if err != nil || len(models) != 1 || models[0].Err != nil {
		t.Fatalf("%+v, %v", models, err)
	}
	fit := models[0].Fit
	m := NewModel(fit, []float64{0, 30}, 64, 7)
	line := m.Curve("model", 3)
	if len(line.X) == 0 || line.X[len(line.X)-1] != 64 || line.Slot != 3 {
		t.Errorf("the curve goes over %v", line.X)
	}
	for i, x := range line.X {
		if want := fit.Model.Eval(x, 30); line.Y[i] != want {
			t.Errorf("%g at %g, want %g", line.Y[i], x, want)
		}
	}
	points := m.Measured("measured", 1)
	if !slices.Equal(points.X, []float64{2, 4, 8, 16, 32}) || !slices.Equal(points.Y, []float64{12, 14, 18, 116, 132}) {
		t.Errorf("measured %v at %v", points.Y, points.X)
	}
	for i, x := range m.Band("", 1).X {
		if b := m.Band("", 1); b.Low[i] > b.High[i] || !drawable(b.Low[i]) {
			t.Errorf("the band is %g to %g at %g", b.Low[i], b.High[i], x)
		}
	}
	linear, err := scaling.ParseTerm("p")
	if err != nil {
		t.Fatal(err)
	}
	through := m.Through("", 1, linear)
	if through.Y[0] != fit.Model.Eval(2, 30) || math.Abs(through.Y[len(through.Y)-1]/through.Y[0]-32) > 1e-9 {
		t.Errorf("a linear term from 2 to 64 goes from %g to %g", through.Y[0], through.Y[len(through.Y)-1])
	}
	if end := NewModel(fit, fit.Largest(), 0, 7).x[6]; end != 32 {
		t.Errorf("without a place to reach, the curve ends at %g", end)
	}
}

func TestRuntime(t *testing.T) {
	a := &tolerance.Answers{
		Given: tolerance.Point{X: 2000},
		Curve: []tolerance.CurvePoint{
			{X: big.NewRat(1000, 1), T: big.NewRat(50_000, 1), After: 1}, {X: big.NewRat(5000, 1), T: big.NewRat(54_000, 1), After: 3},
			{X: big.NewRat(9000, 1), T: big.NewRat(66_000, 1), After: 3},
		},
		Tolerance: []tolerance.Largest{{X: 3000}, {X: 3000}, {Unbounded: true}},
	}
	for parameter, scale := range map[tolerance.Parameter]float64{tolerance.L: 1, tolerance.G: 1000} {
		a.Question.Variable.Parameter = parameter
		r := NewRuntime(a)
		if !slices.Equal(r.X, []float64{1000 / scale, 5000 / scale, 9000 / scale}) || r.T[1] != 54_000/scale {
			t.Errorf("%s: corners %v, %v", parameter, r.X, r.T)
		}
		if s := r.Slope(1); !slices.Equal(s.Y, []float64{1, 3}) {
			t.Errorf("%s: slopes %v", parameter, s.Y)
		}
		zones := r.Zones(func(i int) string { return string(rune('a' + i)) })
		if len(zones) != 2 { // the second ends where the first does
			t.Fatalf("%s: %d zones", parameter, len(zones))
		}
		first, last := zones[0].(*plot.Zone), zones[1].(*plot.Zone)
		if first.From != 2000/scale || first.To != 3000/scale || last.To != 9000/scale || last.Name != "c" {
			t.Errorf("%s: zones %+v, %+v", parameter, first, last)
		}
		if len(r.Given("given")) != 1 {
			t.Errorf("%s: the given value is not marked", parameter)
		}
	}
	a.Given.X = 500
	if NewRuntime(a).Given("given") != nil {
		t.Error("a value outside the range is marked")
	}
}
