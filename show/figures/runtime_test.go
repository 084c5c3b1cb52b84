package figures

import (
	"math/big"
	"slices"
	"testing"

	"slackline/analyze/tolerance"
	"slackline/show/plot"
)

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
		r := newRuntime(a)
		if !slices.Equal(r.X, []float64{1000 / scale, 5000 / scale, 9000 / scale}) || r.T[1] != 54_000/scale {
			t.Errorf("%s: corners %v, %v", parameter, r.X, r.T)
		}
		if s := r.slope(1); !slices.Equal(s.Y, []float64{1, 3}) {
			t.Errorf("%s: slopes %v", parameter, s.Y)
		}
		zones := r.zones(func(i int) string { return string(rune('a' + i)) })
		if len(zones) != 2 { // the second ends where the first does
			t.Fatalf("%s: %d zones", parameter, len(zones))
		}
		first, last := zones[0].(*plot.Zone), zones[1].(*plot.Zone)
		if first.From != 2000/scale || first.To != 3000/scale || last.To != 9000/scale || last.Name != "c" {
			t.Errorf("%s: zones %+v, %+v", parameter, first, last)
		}
		if len(r.given("given")) != 1 {
			t.Errorf("%s: the given value is not marked", parameter)
		}
	}
	a.Given.X = 500
	if newRuntime(a).given("given") != nil {
		t.Error("a value outside the range is marked")
	}
}
