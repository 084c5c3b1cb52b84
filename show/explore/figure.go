package explore

import (
	"context"
	"fmt"

	"slackline/analyze/scaling"
	"slackline/show/figures"
	"slackline/show/plot"
)

// Kinds of figures.
const (
	figureBoxes      = "boxes"      // repetitions of a series over the first parameter
	figureModel      = "model"      // a series with its model and the band of its predictions
	figureTolerance  = "tolerance"  // T over the latency
	figureIterations = "iterations" // the times of each iteration
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

// iterationFigure draws the times of each iteration.
func (v *view) iterationFigure(ctx context.Context) (*plot.Chart, error) {
	f, err := v.analyzed(ctx)
	if err != nil {
		return nil, err
	}
	it := f.iterations
	if it == nil {
		return nil, notFound("the program does not repeat itself: there are no iterations")
	}
	c := figures.Iterations(it)
	c.Title, c.Subtitle = "Iterations of "+v.name, "calls of "+v.paths.Say(it.Path)
	return c, nil
}

// seriesFigure draws a series of a dataset, beside the same series of another one if there is one.
func (v *view) seriesFigure(q *query, kind string) (*plot.Chart, error) {
	d, err := v.models()
	if err != nil {
		return nil, err
	}
	i := q.number("series", 0, int64(len(d.models))-1, 0)
	if q.err != nil {
		return nil, q.err
	}
	sides := []*scaling.Modelled{&d.models[i]}
	names := []string{v.name}
	if q.other != nil {
		other, err := q.other.models()
		if err != nil {
			return nil, err
		}
		if k := other.find(d.models[i].Series); k >= 0 {
			sides, names = append(sides, &other.models[k]), append(names, q.other.name)
		}
	}
	if kind == figureBoxes {
		return boxesFigure(sides, names, d.data.Parameters[0])
	}
	m := sides[0]
	drawn := &figures.Scaling{Place: append([]float64{0}, figures.MeasuredRest(m.Series)...)}
	var fits []*scaling.Fit
	for i, side := range sides {
		if side.Err != nil {
			err = side.Err
			continue
		}
		fits = append(fits, side.Fit)
		drawn.Names = append(drawn.Names, names[i])
	}
	if len(fits) == 0 {
		return nil, notFound("there is no model: " + err.Error())
	}
	drawn.Reach = figures.Reach(fits[0])
	return drawn.Models(fits), nil
}

// boxesFigure draws the repetitions of a series, of several datasets beside each other.
func boxesFigure(sides []*scaling.Modelled, names []string, parameter string) (*plot.Chart, error) {
	var chart *plot.Chart
	for i, side := range sides {
		c, err := figures.Repetitions(side.Series, parameter)
		if err != nil {
			return nil, notFound("this cannot be drawn: " + err.Error())
		}
		if len(sides) > 1 {
			boxes := c.Layers[0].(*plot.Boxes)
			boxes.Name, boxes.Slot = names[i], i+1
		}
		if chart == nil {
			chart = c
			continue
		}
		chart.Layers = append(chart.Layers, c.Layers...)
	}
	return chart, nil
}
