package figures

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"slackline/analyze/tolerance"
	"slackline/show/plot"
)

// answered is a run time of 100 + slope * x from 0 to 50, at 10.
func answered(t *testing.T, p tolerance.Parameter, slope int64) *tolerance.Answers {
	t.Helper()
	percent, err := tolerance.ParsePercent("2.5%")
	if err != nil {
		t.Fatal(err)
	}
	a := &tolerance.Answers{
		Given:     tolerance.Point{X: 10},
		Tolerance: []tolerance.Largest{{X: 20}},
		Curve: []tolerance.CurvePoint{
			{X: new(big.Rat), T: big.NewRat(100, 1), After: slope}, {X: big.NewRat(50, 1), T: big.NewRat(100+50*slope, 1), After: slope},
		},
	}
	a.Question.Variable.Parameter, a.Question.Percents = p, []tolerance.Percent{percent}
	return a
}

// The three parts are T, its slope and the share, each with the zones of one answer; those are named once.
func TestTolerance(t *testing.T) {
	s := Tolerance([]*tolerance.Answers{answered(t, tolerance.L, 2)}, []string{"ring"}, "")
	if s.X.Label != "latency L" || s.X.Quantity != plot.Time || len(s.Parts) != 3 {
		t.Fatalf("%d parts over %+v", len(s.Parts), s.X)
	}
	for i, label := range []string{"run time T", "slope: lambda_L", "rho_L, share of T"} {
		p := s.Parts[i]
		zone, given := p.Layers[0].(*plot.Zone), p.Layers[1].(*plot.Rule)
		if p.Y.Label != label || len(p.Layers) != 3 || zone.From != 10 || zone.To != 20 || given.At != 10 {
			t.Errorf("part %d: %q, zone %+v, given %+v", i, p.Y.Label, zone, given)
		}
		if named := zone.Name == "up to 2.5 %" && given.Name == "given L"; named != (i == 0) || !named && zone.Name+given.Name != "" {
			t.Errorf("part %d: the zone is called %q, the rule %q", i, zone.Name, given.Name)
		}
	}
	if l := s.Parts[0].Layers[2].(*plot.Line); l.Name != "ring" || !slices.Equal(l.Y, []float64{100, 200}) {
		t.Errorf("T is %+v", l)
	}
	if l := s.Parts[1].Layers[2].(*plot.Steps); !slices.Equal(l.Y, []float64{2}) || !slices.Equal(l.Edges, []float64{0, 50}) {
		t.Errorf("the slope is %+v", l)
	}
}

// The axis names the parameter, which latencies are varied, and the unit.
func TestToleranceAxes(t *testing.T) {
	for _, tc := range []struct {
		parameter           tolerance.Parameter
		varied, axis, slope string
		quantity            plot.Quantity
	}{
		{tolerance.L, "of inter", "latency L of inter", "slope: lambda_L", plot.Time},
		{tolerance.G, "", "G, time in ps per byte", "slope: lambda_G (B)", plot.Number},
		{tolerance.O, "", "overhead o", "slope: lambda_o", plot.Time},
	} {
		s := Tolerance([]*tolerance.Answers{answered(t, tc.parameter, 1)}, []string{""}, tc.varied)
		if s.X.Label != tc.axis || s.X.Quantity != tc.quantity || s.Parts[1].Y.Label != tc.slope {
			t.Errorf("%s: axis %q, slope %q; want %q, %q", tc.parameter, s.X.Label, s.Parts[1].Y.Label, tc.axis, tc.slope)
		}
		if svg, err := plot.Render(s, "svg", plot.Options{}); err != nil || !strings.Contains(string(svg), ">"+tc.slope+"<") {
			t.Errorf("%s: the figure has no room for %q, %v", tc.parameter, tc.slope, err)
		}
	}
}

// Of several answers there are no zones, and each has a color of its own in all parts.
func TestToleranceSeveral(t *testing.T) {
	s := Tolerance([]*tolerance.Answers{answered(t, tolerance.L, 1), answered(t, tolerance.L, 3)}, []string{"linear", "binomial"}, "")
	for i, p := range s.Parts {
		if len(p.Layers) != 3 { // the given value and two curves
			t.Errorf("part %d has %d layers, want 3", i, len(p.Layers))
		}
	}
	first, second := s.Parts[0].Layers[1].(*plot.Line), s.Parts[0].Layers[2].(*plot.Line)
	if first.Name != "linear" || second.Name != "binomial" || first.Slot != 1 || second.Slot != 2 ||
		s.Parts[1].Layers[2].(*plot.Steps).Slot != 2 {
		t.Errorf("curves %+v, %+v", first, second)
	}
}

func TestToleranceMap(t *testing.T) {
	c := ToleranceMap([]*tolerance.Answers{answered(t, tolerance.L, 1), answered(t, tolerance.L, 3)}, []string{"G 1ns", "G 2ns"})
	for i, want := range [][]float64{{100, 150}, {100, 250}} {
		l := c.Layers[i].(*plot.Line)
		if !slices.Equal(l.X, []float64{0, 50}) || !slices.Equal(l.Y, want) || l.Slot != i+1 {
			t.Errorf("curve %d is %+v, want %v", i, l, want)
		}
	}
}

// Where the curve begins at the given value, there is room between its mark and the other axis.
func TestGivenIsSeen(t *testing.T) {
	r := &runtime{X: []float64{10, 110}, answers: answered(t, tolerance.L, 2)} // given is 10
	if low, high := r.axis(); low != 7 || high != 110 {
		t.Errorf("the axis is from %g to %g, want 7 to 110", low, high)
	}
	for _, x := range [][]float64{{0, 110}, {5, 110}} { // its mark is away from the axis
		r.X = x
		if low, high := r.axis(); low != x[0] || high != 110 {
			t.Errorf("the axis is from %g to %g, want %g to 110", low, high, x[0])
		}
	}
}
