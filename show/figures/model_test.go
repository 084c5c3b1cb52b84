package figures

import (
	"math"
	"slices"
	"testing"

	"slackline/analyze/scaling"
	"slackline/model/dataset"
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
	m := newModel(fit, []float64{0, 30}, 64, 7)
	line := m.curve("model", 3)
	if len(line.X) == 0 || line.X[len(line.X)-1] != 64 || line.Slot != 3 {
		t.Errorf("the curve goes over %v", line.X)
	}
	for i, x := range line.X {
		if want := fit.Model.Eval(x, 30); line.Y[i] != want {
			t.Errorf("%g at %g, want %g", line.Y[i], x, want)
		}
	}
	points := m.measured("measured", 1)
	if !slices.Equal(points.X, []float64{2, 4, 8, 16, 32}) || !slices.Equal(points.Y, []float64{12, 14, 18, 116, 132}) {
		t.Errorf("measured %v at %v", points.Y, points.X)
	}
	for i, x := range m.band(1, nil).X {
		if b := m.band(1, nil); b.Low[i] > b.High[i] || !drawable(b.Low[i]) {
			t.Errorf("the band is %g to %g at %g", b.Low[i], b.High[i], x)
		}
	}
	linear, err := scaling.ParseTerm("p")
	if err != nil {
		t.Fatal(err)
	}
	through := m.through("", 1, linear)
	if through.Y[0] != fit.Model.Eval(2, 30) || math.Abs(through.Y[len(through.Y)-1]/through.Y[0]-32) > 1e-9 {
		t.Errorf("a linear term from 2 to 64 goes from %g to %g", through.Y[0], through.Y[len(through.Y)-1])
	}
	if end := newModel(fit, fit.Largest(), 0, 7).x[6]; end != 32 {
		t.Errorf("without a place to reach, the curve ends at %g", end)
	}
}
