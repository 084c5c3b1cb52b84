package plot

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExamplesStayOnThePage(t *testing.T) {
	for name, fig := range exampleFigures() {
		t.Run(name, func(t *testing.T) { inspect(t, fig) })
	}
	for name, fig := range largeFigures() {
		t.Run(name, func(t *testing.T) { inspect(t, fig) })
	}
}

// Texts of a chart do not cover each other.
func TestTextsDoNotOverlap(t *testing.T) {
	figures := exampleFigures()
	figures["large"] = largestDiagram()
	for name, fig := range figures {
		t.Run(name, func(t *testing.T) {
			r, _ := inspect(t, fig)
			noOverlaps(t, r)
		})
	}
}

func drawValues(t *rapid.T, n int, positive bool, label string) []float64 {
	lo := -1e15
	if positive {
		lo = 1e-3
	}
	return rapid.SliceOfN(rapid.Float64Range(lo, 1e15), n, n).Draw(t, label)
}

// Any finite data gives a figure of finite numbers on the page.
func TestAnyDataCanBeDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scales := []Scale{Linear, Log10, Log2}
		ch := &Chart{
			Title: "t",
			X: Axis{Label: "x", Scale: rapid.SampledFrom(scales).Draw(t, "x"),
				Quantity: rapid.SampledFrom([]Quantity{Number, Time, Bytes}).Draw(t, "qx")},
			Y: Axis{Label: "y", Scale: rapid.SampledFrom(scales).Draw(t, "y"),
				Quantity: rapid.SampledFrom([]Quantity{Number, Time, Percent}).Draw(t, "qy")},
		}
		if rapid.Bool().Draw(t, "zoomed") {
			ch.Y.Min, ch.Y.Max = 1, 1.5
		}
		px, py := ch.X.Scale != Linear, ch.Y.Scale != Linear
		n := rapid.IntRange(1, 20).Draw(t, "n")
		x, y := drawValues(t, n, px, "xs"), drawValues(t, n, py, "ys")
		edges := drawValues(t, n+1, px, "edges")
		slices.Sort(edges)
		box, err := TukeyBox(y)
		if err != nil {
			t.Fatal(err)
		}
		all := []Layer{
			&Line{Name: "line", X: x, Y: y, Marks: true}, &Steps{Name: "steps", Edges: edges, Y: y},
			&Points{Name: "points", X: x, Y: y}, &Band{Name: "band", X: edges, Low: y, High: y, Stepped: true},
			&Bars{Name: "bars", Edges: edges, Height: y}, &Boxes{Name: "boxes", X: x[:1], Boxes: []Box{box}},
			&Rule{Name: "rule", At: y[0]}, &Zone{Name: "zone", From: x[0], To: x[n-1], Vertical: true},
		}
		ch.Layers = rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, len(all), func(l Layer) Layer { return l }).Draw(t, "layers")
		s, err := ch.layout(&darkTheme)
		if err != nil {
			// A rule or a zone alone gives only one axis values.
			if strings.Contains(err.Error(), "has no values") {
				t.Skip()
			}
			t.Fatal(err)
		}
		r := &recorder{}
		s.paint(r)
		if len(r.bad) > 0 {
			t.Fatalf("drawn: %v", r.bad)
		}
		for _, k := range r.texts {
			if k.room.x < 0 || k.room.right() > s.width {
				t.Fatalf("text %q takes %v on a page of %g by %g", k.text, k.room, s.width, s.height)
			}
		}
	})
}

func TestLayerErrors(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		layer Layer
		want  string
	}{
		{&Line{Name: "T", X: []float64{1, 2}, Y: []float64{1}}, `line "T": 1 y values, but 2 are needed`},
		{&Line{Name: "T", X: []float64{1, 2}, Y: []float64{1, nan}}, `line "T": y value 1 is NaN`},
		{&Points{X: []float64{math.Inf(1)}, Y: []float64{1}}, "points: x value 0 is +Inf"},
		{&Steps{Edges: []float64{1}, Y: []float64{1}}, "steps: 1 edge values, but 2 are needed"},
		{&Band{X: []float64{1}, Low: []float64{1}}, "band: 0 high values, but 1 are needed"},
		{&Bars{Edges: []float64{1, 2}, Height: []float64{nan}}, "bars: height value 0 is NaN"},
		{&Boxes{X: []float64{1}}, "boxes: 0 box values, but 1 are needed"},
		{&Boxes{X: []float64{1}, Boxes: []Box{{Low: 1, Q1: 2, Median: 1, Q3: 3, High: 4}}}, "box 0 is not in order: 1, 2, 1, 3, 4"},
		{&Boxes{X: []float64{1}, Boxes: []Box{{Outliers: []float64{nan}}}}, "outlier value 0 is NaN"},
		{&Rule{At: nan}, "rule: y value 0 is NaN"},
		{&Zone{From: nan, Vertical: true}, "zone: x value 0 is NaN"},
	} {
		_, err := Render(&Chart{Title: "c", X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Layers: []Layer{tc.layer}}, "svg", Options{})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%T: error = %v, want %q", tc.layer, err, tc.want)
		}
	}
}

func TestSlots(t *testing.T) {
	one := []float64{1}
	p, err := newPanel(&lightTheme, Axis{}, Axis{}, []Layer{
		&Points{X: one, Y: one}, &Points{X: one, Y: one, Slot: 2}, &Points{X: one, Y: one}, &Points{X: one, Y: one, Slot: Neutral},
		&Points{X: one, Y: one},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 2, 3, Neutral, 4}; !slices.Equal(p.slots, want) {
		t.Errorf("slots = %v, want %v", p.slots, want)
	}
}

func TestCutAxisIsMarked(t *testing.T) {
	for _, tc := range []struct {
		y    []float64
		want bool
	}{{[]float64{100, 101}, true}, {[]float64{10, 101}, false}, {[]float64{-3, -2}, false}} {
		ch := &Chart{X: Axis{Label: "x"}, Y: Axis{Label: "time"}, Layers: []Layer{&Line{X: []float64{0, 1}, Y: tc.y}}}
		r, _ := inspect(t, ch)
		got := slices.ContainsFunc(r.texts, func(x drawnText) bool { return strings.Contains(x.text, "not from 0") })
		if got != tc.want {
			t.Errorf("values %v: the axis says that it is cut: %v, want %v", tc.y, got, tc.want)
		}
	}
}

func TestTukeyBox(t *testing.T) {
	got, err := TukeyBox([]float64{9, 1, 2, 3, 4, 5, 6, 7, 8, 30, -20})
	// Quartiles of -20 1 2 3 4 5 6 7 8 9 30 lie at positions 2.5, 5 and 7.5; the reach is 1.5 * 5.
	want := Box{Low: 1, Q1: 2.5, Median: 5, Q3: 7.5, High: 9, Outliers: []float64{-20, 30}}
	if err != nil || got.Low != want.Low || got.Q1 != want.Q1 || got.Median != want.Median || got.Q3 != want.Q3 || got.High != want.High ||
		!slices.Equal(got.Outliers, want.Outliers) {
		t.Errorf("TukeyBox = %+v (%v), want %+v", got, err, want)
	}
	for _, bad := range [][]float64{nil, {1, math.NaN()}, {math.Inf(1), 1}, {math.Inf(-1)}} {
		if _, err := TukeyBox(bad); err == nil {
			t.Errorf("TukeyBox(%v) gives no error", bad)
		}
	}
}

func TestTukeyBoxProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 100).Draw(t, "samples")
		before := slices.Clone(samples)
		b, err := TukeyBox(samples)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(samples, before) {
			t.Fatal("the samples were changed")
		}
		if !(b.Low <= b.Q1 && b.Q1 <= b.Median && b.Median <= b.Q3 && b.Q3 <= b.High) {
			t.Fatalf("%+v is not in order", b)
		}
		inside := 0
		for _, v := range samples {
			if v >= b.Low && v <= b.High {
				inside++
			}
		}
		if inside+len(b.Outliers) != len(samples) {
			t.Fatalf("%d samples inside and %d outliers of %d", inside, len(b.Outliers), len(samples))
		}
	})
}

// Reducing a line keeps what it covers: in every column the same lowest and highest place.
func TestReduceKeepsTheOutline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1000, 3000).Draw(t, "n")
		ys := rapid.SliceOfN(rapid.Float64Range(0, 100), n, n).Draw(t, "y")
		places := make([]point, n)
		for i, y := range ys {
			places[i] = point{float64(i) * 50 / float64(n), y}
		}
		outline := func(pts []point) map[int]interval {
			columns := map[int]interval{}
			for _, p := range pts {
				c, ok := columns[int(p.x*2)]
				if !ok {
					c = emptyInterval()
				}
				c.add(p.y)
				columns[int(p.x*2)] = c
			}
			return columns
		}
		small := reduce(places)
		want, got := outline(places), outline(small)
		if len(small) > 4*100 || len(got) != len(want) {
			t.Fatalf("%d points in %d columns, want at most 400 in %d", len(small), len(got), len(want))
		}
		for c, w := range want {
			if got[c] != w {
				t.Fatalf("column %d covers %v, want %v", c, got[c], w)
			}
		}
		if small[0] != places[0] || small[len(small)-1] != places[n-1] {
			t.Fatal("the ends of the line moved")
		}
	})
}

func TestThin(t *testing.T) {
	got := thin([]point{{0, 0}, {0.1, 0.1}, {0.6, 0}, {0, 0.2}, {-0.1, 0}}, 0.5)
	if want := []point{{0, 0}, {0.6, 0}, {-0.1, 0}}; !slices.Equal(got, want) {
		t.Errorf("thin = %v, want %v", got, want)
	}
}
