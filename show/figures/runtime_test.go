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

// T is 50 + x up to 5, and 40 + 3x from there on: the share of the parameter is x / (50 + x), then 3x / (40 + 3x), with a jump
// at 5. T of 0 has no share.
func TestRuntimeShare(t *testing.T) {
	a := &tolerance.Answers{Curve: []tolerance.CurvePoint{
		{X: big.NewRat(0, 1), T: big.NewRat(50, 1), After: 1}, {X: big.NewRat(5, 1), T: big.NewRat(55, 1), After: 3},
		{X: big.NewRat(10, 1), T: big.NewRat(70, 1), After: 3},
	}}
	line := newRuntime(a).share(4)
	at := map[float64][]float64{}
	for i, x := range line.X {
		at[x] = append(at[x], line.Y[i])
		if i > 0 && x < line.X[i-1] {
			t.Fatalf("the line goes back from %g to %g", line.X[i-1], x)
		}
	}
	for x, want := range map[float64][]float64{
		0: {0}, 2.5: {100 * 2.5 / 52.5}, 5: {100 * 5. / 55, 100 * 15. / 55}, 7.5: {100 * 22.5 / 62.5}, 10: {100 * 30. / 70},
	} {
		if !slices.EqualFunc(at[x], want, func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }) {
			t.Errorf("the share at %g is %v, want %v", x, at[x], want)
		}
	}
	if len(line.X) != shareSamples+2 || line.Slot != 4 { // both ends of both pieces
		t.Errorf("%d places, want %d and both ends of two pieces", len(line.X), shareSamples)
	}
	zero := &tolerance.Answers{Curve: []tolerance.CurvePoint{
		{X: new(big.Rat), T: new(big.Rat), After: 0}, {X: big.NewRat(9, 1), T: new(big.Rat), After: 0},
	}}
	for i, y := range newRuntime(zero).share(1).Y {
		if y != 0 {
			t.Fatalf("place %d of a program without time has the share %g", i, y)
		}
	}
}

// Zones begin at the given value, or at the range if that begins later, and end with the range.
func TestRuntimeZones(t *testing.T) {
	curve := []tolerance.CurvePoint{{X: big.NewRat(10, 1), T: big.NewRat(1, 1)}, {X: big.NewRat(20, 1), T: big.NewRat(2, 1)}}
	for _, tc := range []struct {
		given     int64
		tolerance []tolerance.Largest
		want      [][2]float64
	}{
		{0, []tolerance.Largest{{X: 5}, {X: 12}}, [][2]float64{{10, 12}}},
		{15, []tolerance.Largest{{X: 16}, {X: 100}}, [][2]float64{{15, 16}, {16, 20}}},
		{15, []tolerance.Largest{{Unbounded: true}, {Unbounded: true}}, [][2]float64{{15, 20}}},
		{25, []tolerance.Largest{{X: 30}}, nil},
		{12, nil, nil},
	} {
		r := newRuntime(&tolerance.Answers{Given: tolerance.Point{X: tc.given}, Curve: curve, Tolerance: tc.tolerance})
		var got [][2]float64
		for _, z := range r.zones(func(int) string { return "" }) {
			zone := z.(*plot.Zone)
			got = append(got, [2]float64{zone.From, zone.To})
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("given %d, %+v: zones %v, want %v", tc.given, tc.tolerance, got, tc.want)
		}
	}
}
