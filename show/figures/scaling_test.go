package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"slackline/analyze/scaling"
	"slackline/model/dataset"
	"slackline/show/plot"
)

// fitted is the model of a function of p, measured three times each at 2 to 64.
func fitted(t *testing.T, path string, f func(p float64) float64) *scaling.Fit {
	t.Helper()
	s := &dataset.Series{CallPath: path, Metric: "time", Unit: "s"}
	for p := 2.0; p <= 64; p *= 2 {
		s.Points = append(s.Points, dataset.Point{At: []float64{p}, Values: []float64{f(p), f(p), f(p)}})
	}
	models, err := scaling.Models(&dataset.Dataset{Parameters: []string{"p"}, Series: []*dataset.Series{s}}, scaling.Options{}, 1)
	if err != nil || models[0].Err != nil {
		t.Fatal(err, models[0].Err)
	}
	return models[0].Fit
}

func linear(p float64) float64 { return 3 * p }

// layerNames are the names of the layers of a chart, with their types.
func layerNames(c *plot.Chart) []string {
	var names []string
	for _, layer := range c.Layers {
		switch l := layer.(type) {
		case *plot.Band:
			names = append(names, "band "+l.Name)
		case *plot.Line:
			names = append(names, "line "+l.Name)
		case *plot.Points:
			names = append(names, "points "+l.Name)
		}
	}
	return names
}

// A single model is drawn with its band and its measurements, and with what was expected.
func TestModelsSingle(t *testing.T) {
	fit := fitted(t, "main/solve", linear)
	expected, err := scaling.ParseExpression("p")
	if err != nil {
		t.Fatal(err)
	}
	limit, err := scaling.ParseTerm("p^0.5")
	if err != nil {
		t.Fatal(err)
	}
	s := &Scaling{Place: []float64{256}, Expected: expected, Limit: limit}
	c := s.Models([]*scaling.Fit{fit})
	want := []string{"band 90 % band, with noise", "line model 3 * p", "points measured", "line expected p", "line upper limit",
		"line lower limit"}
	if got := layerNames(c); !slices.Equal(got, want) {
		t.Fatalf("layers %q, want %q", got, want)
	}
	ends := map[string]float64{"model 3 * p": 3 * 256, "expected p": 3 * 256}
	// The limits go through the model at 2: 6 * (256/2)^(1 +- 1/2).
	ends["upper limit"], ends["lower limit"] = 6*math.Pow(128, 1.5), 6*math.Pow(128, 0.5)
	for _, layer := range c.Layers {
		if l, ok := layer.(*plot.Line); ok {
			x, y := l.X[len(l.X)-1], l.Y[len(l.Y)-1]
			if x != 256 || math.Abs(y/ends[l.Name]-1) > 1e-9 || math.Abs(l.Y[0]-6) > 1e-9 {
				t.Errorf("%s goes from %g to %g at %g, want 6 to %g at 256", l.Name, l.Y[0], y, x, ends[l.Name])
			}
		}
	}
	if c.Title != "main/solve" || !strings.HasPrefix(c.Subtitle, "time over p, p with confidence ") && !strings.Contains(c.Subtitle, "O(p)") {
		t.Errorf("titles %q, %q", c.Title, c.Subtitle)
	}
	if c.Y.Label != "time (s)" || c.X.Label != "p" || c.X.Scale != plot.Log2 || c.Y.Scale != plot.Log10 {
		t.Errorf("axes %+v, %+v", c.X, c.Y)
	}
}

// Several models have neither bands nor expectations; what differs among them is not in the labels.
func TestModelsSeveral(t *testing.T) {
	expected, err := scaling.ParseExpression("p")
	if err != nil {
		t.Fatal(err)
	}
	a, b := fitted(t, "main/solve", linear), fitted(t, "main/exchange", func(float64) float64 { return 7 })
	s := &Scaling{Place: []float64{64}, Expected: expected}
	c := s.Models([]*scaling.Fit{a, b})
	want := []string{"line main/solve: 3 * p", "points ", "line main/exchange: 7", "points "}
	if got := layerNames(c); !slices.Equal(got, want) {
		t.Errorf("layers %q, want %q", got, want)
	}
	if c.Title != "2 models" || c.Subtitle != "time over p" || c.Y.Label != "time (s)" {
		t.Errorf("titles %q, %q, label %q", c.Title, c.Subtitle, c.Y.Label)
	}
	b.Unit = "B"
	if c := s.Models([]*scaling.Fit{a, b}); c.Y.Label != "time (in the unit of the input)" {
		t.Errorf("label %q of models with different units", c.Y.Label)
	}
	b.Metric = "bytes"
	if c := s.Models([]*scaling.Fit{a, b}); c.Y.Label != "value (in the unit of the input)" {
		t.Errorf("label %q of models with different metrics", c.Y.Label)
	}
	named := &Scaling{Place: []float64{64}, Names: []string{"before", "after"}}
	if c := named.Models([]*scaling.Fit{a, a}); c.Title != "main/solve" || layerNames(c)[2] != "line after: 3 * p" {
		t.Errorf("title %q, layers %q of one series before and after", c.Title, layerNames(c))
	}
	a.CallPath = "main/iterate/solve/multiply"
	short := &Scaling{Place: []float64{64}, Letters: 20}
	if got := layerNames(short.Models([]*scaling.Fit{a, b}))[0]; got != "line .../solve/multiply" {
		t.Errorf("the legend is %q, want 20 letters of the call path, and no formula", got)
	}
}

// Without a target the curve goes beyond the measurements: to 4 times the largest one.
func TestModelsReach(t *testing.T) {
	fit := fitted(t, "main", linear)
	if Reach(fit) != 4 {
		t.Errorf("a polynomial is drawn up to %g times the largest value, want 4", Reach(fit))
	}
	s := &Scaling{Place: fit.Largest(), Reach: Reach(fit)}
	for _, layer := range s.Models([]*scaling.Fit{fit}).Layers {
		if l, ok := layer.(*plot.Line); ok && l.X[len(l.X)-1] != 256 {
			t.Errorf("%s ends at %g, want 256", l.Name, l.X[len(l.X)-1])
		}
	}
}

func TestExpectation(t *testing.T) {
	d := &dataset.Dataset{Parameters: []string{"p"}, Series: []*dataset.Series{{CallPath: "solve", Metric: "time"}}}
	for p := 2.0; p <= 64; p *= 2 {
		d.Series[0].Points = append(d.Series[0].Points, dataset.Point{At: []float64{p}, Values: []float64{5 * p, 5 * p, 5 * p}})
	}
	for _, tc := range []struct {
		entry string
		end   float64
	}{{"{function: solve, expect: p}", 256}, {"{function: solve, expect: p, target: {p: 1000}}", 1000}} {
		e, err := scaling.ParseExpectations("e.yaml", []byte("expectations:\n  - "+tc.entry+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := scaling.Judge(e, d, scaling.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := Expectation(r.Checks[0])
		for _, layer := range c.Layers {
			if l, ok := layer.(*plot.Line); ok && math.Abs(l.X[len(l.X)-1]/tc.end-1) > 1e-12 {
				t.Errorf("%s: %s ends at %g, want %g", tc.entry, l.Name, l.X[len(l.X)-1], tc.end)
			}
		}
	}
}

func TestPlaceText(t *testing.T) {
	for _, tc := range []struct {
		names []string
		at    []float64
		want  string
	}{
		{nil, nil, ""}, {[]string{"p"}, []float64{64}, "p = 64"}, {[]string{"p", "n"}, []float64{1 << 20, 0.125}, "p = 1048576, n = 0.125"},
	} {
		if got := PlaceText(tc.names, tc.at); got != tc.want {
			t.Errorf("PlaceText(%v, %v) = %q, want %q", tc.names, tc.at, got, tc.want)
		}
	}
}

// A series of several parameters is drawn where it has the most points; of several such places, at the largest.
func TestMeasuredRest(t *testing.T) {
	for _, tc := range []struct {
		at   [][]float64
		want []float64
	}{
		{[][]float64{{2}, {4}}, []float64{}},
		{[][]float64{{2, 10}, {4, 10}, {2, 20}}, []float64{10}},
		{[][]float64{{2, 20}, {2, 10}, {4, 10}, {4, 20}}, []float64{20}},
		{[][]float64{{2, 20, 1}, {2, 10, 2}, {4, 10, 2}}, []float64{10, 2}},
		{nil, nil},
	} {
		s := &dataset.Series{}
		for _, at := range tc.at {
			s.Points = append(s.Points, dataset.Point{At: at, Values: []float64{1}})
		}
		if got := MeasuredRest(s); !slices.Equal(got, tc.want) {
			t.Errorf("points %v: %v, want %v", tc.at, got, tc.want)
		}
		if len(s.Points) > 0 && !slices.Equal(s.Points[0].At, tc.at[0]) {
			t.Errorf("points %v are sorted in the series itself", tc.at)
		}
	}
}

// The boxes ascend, whatever the order of the points; points elsewhere and points without values are left out.
func TestRepetitions(t *testing.T) {
	s := &dataset.Series{CallPath: "solve", Metric: "time", Points: []dataset.Point{
		{At: []float64{8, 1}, Values: []float64{4}}, {At: []float64{2, 1}, Values: []float64{3, 1, 2}}, {At: []float64{4, 1}},
		{At: []float64{2, 9}, Values: []float64{99}},
	}}
	c, err := Repetitions(s, "p")
	if err != nil {
		t.Fatal(err)
	}
	boxes := c.Layers[0].(*plot.Boxes)
	if !slices.Equal(boxes.X, []float64{2, 8}) || boxes.Boxes[0].Median != 2 || boxes.Boxes[0].Q1 != 1.5 || boxes.Boxes[1].Median != 4 {
		t.Errorf("boxes %+v at %v, want medians 2 and 4 at 2 and 8", boxes.Boxes, boxes.X)
	}
	if c.Title != "solve" || c.Subtitle != "time over p" {
		t.Errorf("titles %q, %q", c.Title, c.Subtitle)
	}
	for _, values := range [][]float64{{}, {math.NaN()}, {1, math.Inf(1)}} {
		s := &dataset.Series{Points: []dataset.Point{{At: []float64{2}, Values: values}}}
		if _, err := Repetitions(s, "p"); err == nil {
			t.Error(fmt.Sprint(values) + " are drawn")
		}
	}
}

// Units are written as on other axes.
func TestUnits(t *testing.T) {
	fit := fitted(t, "main", linear)
	fit.Unit = "us"
	c := (&Scaling{Place: []float64{64}}).Models([]*scaling.Fit{fit})
	if c.Y.Label != "time (µs)" {
		t.Errorf("the label is %q, want time (µs)", c.Y.Label)
	}
}
