package plot

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"slackline/model/unit"
)

// naming is how long the texts of a figure are.
type naming struct {
	name string
	text func(what string) string
}

var namings = []naming{
	{"short", func(what string) string { return what[:1] }},
	{"plain", func(what string) string { return what }},
	{"long", func(what string) string {
		return what + " " + strings.Repeat("of the second phase of a solver with a very long name ", 6)
	}},
	{"unbroken", func(what string) string {
		return what + strings.Repeat("::std::vector<double,std::allocator<double>>", 8)
	}},
	{"foreign", func(what string) string { return what + " Überlänge 時間の測定結果 µs <script>&amp;\"'" }},
}

// extent is what numbers a figure shows.
type extent struct {
	name string
	x, y []float64
}

func extents() []extent {
	var many extent
	many.name = "many"
	for i := range 3000 {
		many.x = append(many.x, float64(i+1))
		many.y = append(many.y, 1e6*(2+math.Sin(float64(i)/50)))
	}
	return []extent{
		{"one", []float64{1}, []float64{1}},
		{"same", []float64{1, 2, 3}, []float64{5e9, 5e9, 5e9}},
		{"nearly the same", []float64{1, 2, 3}, []float64{1e15, 1e15 + 1, 1e15 + 2}},
		{"wide", []float64{1e-3, 1, 1e15}, []float64{1e-3, 1, 9e18}},
		{"tiny", []float64{1, 2}, []float64{1e-12, 3e-12}},
		many,
	}
}

// chartsOf are charts of every layer and axis from the same numbers.
func chartsOf(e extent, say func(string) string) map[string]Figure {
	low, high := make([]float64, len(e.y)), make([]float64, len(e.y))
	boxes := make([]Box, len(e.y))
	for i, y := range e.y {
		low[i], high[i] = y*0.9, y*1.1
		boxes[i] = Box{Low: y * 0.7, Q1: y * 0.8, Median: y, Q3: y * 1.2, High: y * 1.3}
	}
	edges := append(slices.Clone(e.x), e.x[len(e.x)-1]*2)
	layers := map[string]Layer{
		"line":   &Line{Name: say("line"), X: e.x, Y: e.y, Marks: true},
		"steps":  &Steps{Name: say("steps"), Edges: edges, Y: e.y},
		"points": &Points{Name: say("points"), X: e.x, Y: e.y},
		"band":   &Band{Name: say("band"), X: e.x, Low: low, High: high},
		"bars":   &Bars{Name: say("bars"), Edges: edges, Height: e.y},
		"boxes":  &Boxes{Name: say("boxes"), X: e.x, Boxes: boxes},
	}
	figures := map[string]Figure{}
	head := func(kind string) (string, string, string) {
		return say("title of " + kind), say("subtitle"), say("caption")
	}
	for kind, layer := range layers {
		for scale, name := range []string{"linear", "log10", "log2"} {
			title, subtitle, caption := head(kind)
			x := Axis{Label: say("processes"), Scale: Scale(scale)}
			y := Axis{Label: say("run time"), Scale: Scale(scale), Quantity: Quantity(scale)}
			figures[kind+" "+name] = &Chart{Title: title, Subtitle: subtitle, Caption: caption, X: x, Y: y, Layers: []Layer{layer}}
		}
	}
	var crowd []Layer
	for i := range 24 {
		crowd = append(crowd, &Line{Name: say(fmt.Sprintf("series %d", i)), X: e.x, Y: e.y})
	}
	title, subtitle, caption := head("a crowd")
	axis := Axis{Label: say("value"), Quantity: Time}
	figures["crowd"] = &Chart{Title: title, Subtitle: subtitle, Caption: caption, X: axis, Y: axis, Layers: crowd}
	figures["stack"] = &Stack{Title: title, Subtitle: subtitle, Caption: caption, X: axis, Parts: []StackPart{
		{Y: axis, Layers: []Layer{layers["line"]}}, {Y: axis, Layers: []Layer{layers["band"]}, Weight: 0.5},
	}}
	return figures
}

// otherFigures are the kinds that are not charts.
func otherFigures(e extent, say func(string) string) map[string]Figure {
	n := len(e.y)
	m := Map{Title: say("map"), X: say("to rank"), Y: say("from rank"), Columns: n, Rows: 1, Values: e.y, Quantity: Time}
	square := Map{Title: say("square"), X: say("x"), Y: say("y"), Columns: 3, Rows: 4, Values: make([]float64, 12), Quantity: Percent}
	finish := make([]unit.Duration, n)
	for i, y := range e.y {
		finish[i] = unit.Duration(min(y, 1e18))
	}
	d := &MessageDiagram{Title: say("diagram"), Subtitle: say("subtitle"), Caption: say("caption")}
	end := unit.Duration(1)
	for i, f := range finish[:min(n, MaxDiagramRows)] {
		f = max(f, 1)
		end = max(end, f)
		d.Rows = append(d.Rows, DiagramRow{Label: say("rank"), Finish: f, Finished: true})
		d.Spans = append(d.Spans, Span{Row: i, Start: 0, End: f, Kind: SpanKind(i % int(spanKinds))})
		if i > 0 {
			d.Arrows = append(d.Arrows, Arrow{From: i - 1, To: i, Depart: 0, Arrive: f, Label: say("64 KiB")})
		}
	}
	return map[string]Figure{
		"heat map":       &HeatMap{Title: say("heat map"), Subtitle: say("subtitle"), Caption: say("caption"), Maps: []Map{m, square, square, m}},
		"finish profile": &FinishProfile{Title: say("profile"), Subtitle: say("subtitle"), Caption: say("caption"), Finish: finish},
		"diagram":        d,
	}
}

// All kinds of figures with short, long and extreme data stay on their page, and no text covers another.
func TestGeometry(t *testing.T) {
	for _, e := range extents() {
		for _, n := range namings {
			figures := chartsOf(e, n.text)
			maps.Copy(figures, otherFigures(e, n.text))
			for _, kind := range slices.Sorted(maps.Keys(figures)) {
				t.Run(fmt.Sprintf("%s/%s/%s", kind, e.name, n.name), func(t *testing.T) {
					r, _ := inspect(t, figures[kind])
					noOverlaps(t, r)
				})
			}
		}
	}
}

// noOverlaps fails if two texts cover each other.
func noOverlaps(t *testing.T, r *recorder) {
	t.Helper()
	for i, a := range r.texts {
		for _, b := range r.texts[:i] {
			if a.room.overlaps(b.room) {
				t.Errorf("%q and %q overlap: %v, %v", a.text, b.text, a.room, b.room)
			}
		}
	}
}

// Axes say what they show and in which unit.
func TestAxesAreLabelled(t *testing.T) {
	figures := exampleFigures()
	maps.Copy(figures, largeFigures())
	for name, fig := range figures {
		if _, ok := fig.(*Chart); !ok {
			continue
		}
		r, _ := inspect(t, fig)
		for _, axis := range []Axis{fig.(*Chart).X, fig.(*Chart).Y} {
			if !slices.ContainsFunc(r.texts, func(x drawnText) bool { return strings.HasPrefix(x.text, axis.Label) }) {
				t.Errorf("%s: no text says %q", name, axis.Label)
			}
		}
	}
	bare := &Chart{Title: "bare", X: Axis{Label: "x"}, Layers: []Layer{&Line{X: []float64{1, 2}, Y: []float64{1, 2}}}}
	if _, err := bare.layout(&lightTheme); err == nil || !strings.Contains(err.Error(), "no label") {
		t.Errorf("a chart without a label at its y axis: %v", err)
	}
}
