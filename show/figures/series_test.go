package figures

import (
	"slices"
	"testing"

	"slackline/analyze/whatif"
	"slackline/model/unit"
	"slackline/show/plot"
)

// Times that differ by a factor of 30 or more need a logarithmic axis, which has no zero.
func TestSeriesAxis(t *testing.T) {
	for _, tc := range []struct {
		noiseless, slowest unit.Duration
		log                bool
	}{
		{100, 100, false}, {100, 2999, false}, {100, 3000, true}, {1, 29, false}, {0, 1e6, false},
	} {
		c := Series([]whatif.Point{{Ranks: 2, Noiseless: tc.noiseless, Samples: []unit.Duration{tc.slowest}}}, true)
		if log := c.Y.Scale == plot.Log10; log != tc.log || c.Y.FromZero == tc.log {
			t.Errorf("%d to %d: logarithmic %v, from zero %v; want %v, %v", tc.noiseless, tc.slowest, log, c.Y.FromZero, tc.log, !tc.log)
		}
	}
}

// The box of 1, 2, 3, 4 and 100 has quartiles 2, 3 and 4, whiskers at 1 and 4, and an outlier.
func TestSeriesBoxes(t *testing.T) {
	points := []whatif.Point{
		{Ranks: 2, Noiseless: 1, Samples: []unit.Duration{100, 4, 2, 1, 3}}, {Ranks: 4, Noiseless: 5, Samples: []unit.Duration{7}},
	}
	c := Series(points, true)
	boxes, quiet := c.Layers[0].(*plot.Boxes), c.Layers[1].(*plot.Line)
	first, second := boxes.Boxes[0], boxes.Boxes[1]
	if first.Low != 1 || first.Q1 != 2 || first.Median != 3 || first.Q3 != 4 || first.High != 4 ||
		!slices.Equal(first.Outliers, []float64{100}) {
		t.Errorf("box %+v, want 1, 2, 3, 4, 4 and the outlier 100", first)
	}
	if second.Low != 7 || second.Median != 7 || second.High != 7 || len(second.Outliers) != 0 {
		t.Errorf("the box of one replica is %+v", second)
	}
	if !slices.Equal(boxes.X, []float64{2, 4}) || !slices.Equal(quiet.X, []float64{2, 4}) || !slices.Equal(quiet.Y, []float64{1, 5}) {
		t.Errorf("boxes at %v, without noise %v at %v", boxes.X, quiet.Y, quiet.X)
	}
	if c := Series(points, false); len(c.Layers) != 1 || c.Layers[0].(*plot.Line).Name != "without noise" {
		t.Errorf("%d layers without noise, want the line only", len(c.Layers))
	}
}

// Times that are not above 0 have no place on a logarithmic axis, and a scheme without any has no line.
func TestSchemes(t *testing.T) {
	answer := func(ranks int, truth unit.Duration, reported ...float64) *whatif.SchemeAnswer {
		a := &whatif.SchemeAnswer{Ranks: ranks, True: truth}
		for i, name := range whatif.SimulatedSchemes {
			a.Schemes = append(a.Schemes, whatif.SchemeTime{Scheme: name, Reported: reported[i]})
		}
		return a
	}
	c := Schemes([]*whatif.SchemeAnswer{answer(2, 10, 11, 12, -1, 0, 15), answer(4, 20, 21, 22, 23, 0, 25)})
	names := whatif.SimulatedSchemes
	want := []struct {
		name string
		x, y []float64
	}{
		{"true", []float64{2, 4}, []float64{10, 20}}, {names[0], []float64{2, 4}, []float64{11, 21}},
		{names[1], []float64{2, 4}, []float64{12, 22}},
		{names[2], []float64{4}, []float64{23}}, {names[4], []float64{2, 4}, []float64{15, 25}},
	}
	if len(c.Layers) != len(want) {
		t.Fatalf("%d lines, want %d", len(c.Layers), len(want))
	}
	slots := map[int]bool{}
	for i, w := range want {
		l := c.Layers[i].(*plot.Line)
		slots[l.Slot] = true
		if l.Name != w.name || !slices.Equal(l.X, w.x) || !slices.Equal(l.Y, w.y) {
			t.Errorf("line %d is %s, %v at %v; want %s, %v at %v", i, l.Name, l.Y, l.X, w.name, w.y, w.x)
		}
	}
	if len(slots) != len(want) {
		t.Errorf("%d lines have %d colors", len(want), len(slots))
	}
}
