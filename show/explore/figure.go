package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"slackline/analyze/scaling"
	"slackline/model/dataset"
	"slackline/show/curves"
	"slackline/show/plot"
)

// Kinds of figures.
const (
	figureBoxes      = "boxes"      // repetitions of a series over the first parameter
	figureModel      = "model"      // a series with its model and the band of its predictions
	figureTolerance  = "tolerance"  // T over the latency
	figureIterations = "iterations" // how a run develops
)

// figures are the kinds of figures that an input has.
func (v *view) figures() []string {
	if v.tl == nil {
		return []string{figureBoxes, figureModel}
	}
	var kinds []string
	if len(v.opened.Machines) > 0 {
		kinds = append(kinds, figureTolerance)
	}
	return append(kinds, figureIterations)
}

// figurePolicy is what an SVG may do: have its own style.
const figurePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"

// Widths of figures: their texts have the same size in all of them.
const (
	leastFigure = 300
	usualFigure = 720
	mostFigure  = 2000
)

// answerFigure draws.
func answerFigure(ctx context.Context, v *view, q *query) (any, error) {
	kinds := v.figures()
	kind := q.word("kind", kinds, kinds[0])
	dark := q.number("dark", 0, 1, 0) == 1
	width := float64(q.number("width", leastFigure, mostFigure, usualFigure))
	if q.err != nil {
		return nil, q.err
	}
	var figure *plot.Chart
	var err error
	switch kind {
	case figureTolerance:
		figure, err = v.toleranceFigure(ctx, q)
	case figureIterations:
		figure, err = v.iterationFigure(ctx)
	default:
		figure, err = v.seriesFigure(q, kind)
	}
	if err != nil {
		return nil, err
	}
	figure.Width = width
	if width < usualFigure {
		figure.Height = 0.8 * width // narrow ones are steeper
	}
	data, err := plot.Render(figure, string(plot.SVG), plot.Options{Dark: dark})
	if err != nil {
		return nil, notFound("this cannot be drawn: " + err.Error())
	}
	return &binaryAnswer{kind: "image/svg+xml; charset=utf-8", policy: figurePolicy, data: data}, nil
}

// toleranceFigure draws T over the latency.
func (v *view) toleranceFigure(ctx context.Context, q *query) (*plot.Chart, error) {
	answer, err := answerTolerance(ctx, v, q)
	if err != nil {
		return nil, err
	}
	t := answer.(*Tolerance)
	line := &plot.Line{Name: "T on " + t.Machine, Slot: 1}
	for _, p := range t.Curve {
		line.X, line.Y = append(line.X, p.Latency), append(line.Y, p.T)
	}
	layers := []plot.Layer{line, &plot.Rule{Name: "latency of the machine", At: float64(t.Given), Vertical: true, Slot: plot.Neutral}}
	if t.At != nil {
		layers = append(layers, &plot.Points{Name: "chosen latency", Slot: 2, X: []float64{t.At.Latency}, Y: []float64{t.At.T}})
	}
	return &plot.Chart{
		Title: "Run time of " + v.name + " over the latency", Subtitle: fmt.Sprintf("static model, %d latencies on the critical path", t.LambdaL),
		X: plot.Axis{Label: "latency L", Quantity: plot.Time}, Y: plot.Axis{Label: "run time T", Quantity: plot.Time}, Layers: layers,
	}, nil
}

// iterationFigure draws how a run develops.
func (v *view) iterationFigure(ctx context.Context) (*plot.Chart, error) {
	f, err := v.analysed(ctx)
	if err != nil {
		return nil, err
	}
	it := f.iterations
	if it == nil {
		return nil, notFound("the program does not repeat itself: there are no iterations")
	}
	var x, duration, most, mean []float64
	for i := range it.List {
		one := &it.List[i]
		x = append(x, float64(i))
		duration, most, mean = append(duration, float64(one.Duration)), append(most, float64(one.MaxComputation)), append(mean, float64(one.Computation))
	}
	return &plot.Chart{
		Title: "Iterations of " + v.name, Subtitle: "calls of " + v.paths.Say(it.Path),
		X: plot.Axis{Label: "iteration", Whole: true}, Y: plot.Axis{Label: "time", Quantity: plot.Time, FromZero: true},
		Layers: []plot.Layer{
			&plot.Line{Name: "duration", X: x, Y: duration},
			&plot.Line{Name: "most computation of a rank", X: x, Y: most},
			&plot.Line{Name: "computation, mean", X: x, Y: mean},
		},
	}, nil
}

// seriesFigure draws a series of a dataset.
func (v *view) seriesFigure(q *query, kind string) (*plot.Chart, error) {
	d, err := v.models()
	if err != nil {
		return nil, err
	}
	i := q.number("series", 0, int64(len(d.models))-1, 0)
	if q.err != nil {
		return nil, q.err
	}
	m := &d.models[i]
	chart := &plot.Chart{
		Title: m.Series.CallPath, Subtitle: m.Series.Metric + " over " + d.data.Parameters[0],
		X: plot.Axis{Label: d.data.Parameters[0], Scale: plot.Log2}, Y: plot.Axis{Label: m.Series.Metric},
	}
	if kind == figureBoxes {
		err = drawBoxes(chart, m.Series)
	} else {
		err = drawModel(chart, m)
	}
	return chart, err
}

// largestRest is the place of the other parameters than the first at which a series is drawn: where they are largest.
func largestRest(s *dataset.Series) []float64 {
	var rest []float64
	for _, p := range s.Points {
		if rest == nil || slices.Compare(p.At[1:], rest) > 0 {
			rest = p.At[1:]
		}
	}
	return rest
}

// drawBoxes draws the repetitions at each value of the first parameter.
func drawBoxes(c *plot.Chart, s *dataset.Series) error {
	rest := largestRest(s)
	points := slices.DeleteFunc(slices.Clone(s.Points), func(p dataset.Point) bool { return !slices.Equal(p.At[1:], rest) || len(p.Values) == 0 })
	slices.SortFunc(points, func(a, b dataset.Point) int { return cmp.Compare(a.At[0], b.At[0]) })
	boxes := &plot.Boxes{Name: "repetitions", Slot: 1}
	for _, p := range points {
		box, err := plot.TukeyBox(p.Values)
		if err != nil {
			return notFound("this cannot be drawn: " + err.Error())
		}
		boxes.X, boxes.Boxes = append(boxes.X, p.At[0]), append(boxes.Boxes, box)
	}
	c.Layers = []plot.Layer{boxes}
	return nil
}

// curvePlaces is at how many places a curve is computed.
const curvePlaces = 200

// drawModel draws measurements, the model and the band in which measurements are to be expected.
func drawModel(c *plot.Chart, m *scaling.Modelled) error {
	if m.Err != nil {
		return notFound("there is no model: " + m.Err.Error())
	}
	fit := m.Fit
	place := append([]float64{0}, largestRest(m.Series)...)
	model := curves.NewModel(fit, place, fit.Largest()[0]*curves.Reach(fit), curvePlaces)
	if band := model.Band("90 % band, with noise", 1); len(band.X) > 1 {
		c.Layers = append(c.Layers, band)
	}
	c.Layers = append(c.Layers, model.Curve("model "+fit.Model.String(), 1), model.Measured("measured", 1))
	c.Y.Scale = plot.Log10
	c.Subtitle += ", " + fit.Landau()
	return nil
}
