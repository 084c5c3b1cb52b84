package cli

import (
	"fmt"
	"io"
	"math"
	"strings"

	"slackline/analyze/scaling"
	"slackline/show/plot"
)

// Figures of models.
const (
	mostCurves  = 6
	curvePlaces = 200
	curveReach  = 4 // times the largest measured value, without a target
)

// draw draws measurements and models over the first parameter; the others have
// their largest values. A single model has its prediction band and, with
// --expect, the expectation with its limits.
func (r *scalingReport) draw(a *app) error {
	var fits []*scaling.Fit
	for _, m := range r.models {
		if m.Err == nil {
			fits = append(fits, m.Fit)
		}
	}
	if len(fits) > mostCurves {
		a.warn("--plot: the first %d of %d models are drawn; choose with --only-path and --metric", mostCurves, len(fits))
		fits = fits[:mostCurves]
	}
	f := &scalingFigure{parameters: r.data.Parameters}
	if f.place = r.place; f.place == nil {
		f.place, _ = (&scaling.Target{Named: map[string]float64{}}).Place(r.data)
		f.reach = curveReach
		if fits[0].Leads[0].Exp.Sign() > 0 {
			f.reach = 1.25
		}
	}
	for _, fit := range fits {
		f.add(fit, len(fits) == 1)
	}
	if len(fits) == 1 && r.expect != nil {
		name := r.data.Parameters[0]
		limit := scaling.DefaultLimit(r.expect.Term(name))
		if r.limit != nil && r.limit.Mentions(name) {
			limit = r.limit.Term(name)
		}
		f.expectation(fits[0], r.expect, limit)
	}
	return a.writeFigure(f.chart(a, fits), r.options.plot, r.inputs)
}

// writeFigure writes a chart to a file.
func (a *app) writeFigure(chart *plot.Chart, path string, inputs []string) error {
	err := a.writeOut(path, inputs, func(w io.Writer) error { return plot.Write(w, chart, path, plot.Options{}) })
	if err != nil {
		return err
	}
	a.note("drew %s", path)
	return nil
}

// scalingFigure collects the layers of a figure.
type scalingFigure struct {
	parameters []string
	place      []float64 // of the others than the first parameter; the curves reach to the first
	reach      float64   // or, if it is not 0, so many times the largest measured value
	under      []plot.Layer
	layers     []plot.Layer
	slot       int
}

// places are where curves are computed.
func (f *scalingFigure) places(fit *scaling.Fit) []float64 {
	low, high := math.Inf(1), 0.0
	for _, at := range fit.At {
		low, high = min(low, at[0]), max(high, at[0])
	}
	if f.reach > 0 {
		high *= f.reach
	} else {
		high = max(high, f.place[0])
	}
	x := make([]float64, curvePlaces)
	for i := range x {
		x[i] = low * math.Pow(high/low, float64(i)/(curvePlaces-1))
	}
	return x
}

// at is a place with the given value of the first parameter.
func (f *scalingFigure) at(x float64) []float64 {
	at := append([]float64{}, f.place...)
	at[0] = x
	return at
}

// add draws a fit: its measurements at the place of the other parameters, its
// curve, and its band if wanted.
func (f *scalingFigure) add(fit *scaling.Fit, band bool) {
	f.slot++
	points := &plot.Points{Slot: f.slot}
	for i, at := range fit.At {
		if len(at) == 1 || sameRest(at, f.place) {
			points.X, points.Y = append(points.X, at[0]), append(points.Y, fit.Values[i])
		}
	}
	curve := &plot.Line{Name: fit.CallPath + ": " + fit.Model.String(), Slot: f.slot}
	for _, x := range f.places(fit) {
		if y := fit.Model.Eval(f.at(x)...); y > 0 && !math.IsInf(y, 0) {
			curve.X, curve.Y = append(curve.X, x), append(curve.Y, y)
		}
	}
	if band {
		points.Name = "measured"
		curve.Name = "model " + fit.Model.String()
		f.addBand(fit)
	}
	f.layers = append(f.layers, curve)
	if len(points.X) > 0 {
		f.layers = append(f.layers, points)
	}
}

func sameRest(a, b []float64) bool {
	for i := 1; i < len(a); i++ {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// addBand draws where measurements are to be expected.
func (f *scalingFigure) addBand(fit *scaling.Fit) {
	band := &plot.Band{Name: "90 % band, with noise", Slot: f.slot}
	for _, x := range f.places(fit) {
		p := fit.Predict(f.at(x)...)
		if p.MeasuredLow > 0 && !math.IsInf(p.MeasuredHigh, 0) {
			band.X = append(band.X, x)
			band.Low, band.High = append(band.Low, p.MeasuredLow), append(band.High, p.MeasuredHigh)
		}
	}
	if len(band.X) > 1 {
		f.under = append(f.under, band)
	}
}

// expectation draws what was expected and its limits, through the model at the
// smallest measured value.
func (f *scalingFigure) expectation(fit *scaling.Fit, e *scaling.Expression, limit scaling.Term) {
	expected := e.Term(f.parameters[0])
	x := f.places(fit)
	from := fit.Model.Eval(f.at(x[0])...)
	curve := func(name string, t scaling.Term, slot int) {
		base := t.Eval(x[0])
		line := &plot.Line{Name: name, Slot: slot}
		for _, v := range x {
			if y := from * t.Eval(v) / base; y > 0 && !math.IsInf(y, 0) {
				line.X, line.Y = append(line.X, v), append(line.Y, y)
			}
		}
		if len(line.X) > 1 {
			f.layers = append(f.layers, line)
		}
	}
	curve("expected "+e.Text, expected, plot.Neutral)
	curve("upper limit", expected.Mul(limit), 2)
	curve("lower limit", expected.Div(limit), 3)
}

// chart puts the layers together.
func (f *scalingFigure) chart(a *app, fits []*scaling.Fit) *plot.Chart {
	title := fits[0].CallPath
	if len(fits) > 1 {
		title = fmt.Sprintf("%d models", len(fits))
	}
	subtitle := fmt.Sprintf("%s over %s", fits[0].Metric, f.parameters[0])
	if len(f.parameters) > 1 {
		subtitle += " at " + placeText(f.parameters[1:], f.place[1:])
	}
	if len(fits) == 1 && fits[0].Doubt == "" && !math.IsNaN(fits[0].Confidence) {
		subtitle += fmt.Sprintf(", %s with confidence %.2f", fits[0].Landau(), fits[0].Confidence)
	}
	metric, unit := fits[0].Metric, fits[0].Unit
	for _, fit := range fits {
		if fit.Metric != metric {
			metric = "value"
		}
		if fit.Unit != unit {
			unit = ""
		}
	}
	if unit == "" {
		unit = "in the unit of the input"
	}
	x := plot.Axis{Label: f.parameters[0], Scale: plot.Log2}
	if fits[0].Leads[0].Exp.Sign() > 0 {
		x.Scale = plot.Linear
	}
	return &plot.Chart{
		Title: title, Subtitle: subtitle, Caption: toolName + " " + strings.Join(a.args, " "),
		X: x, Y: plot.Axis{Label: metric + " (" + unit + ")", Scale: plot.Log10},
		Layers: append(f.under, f.layers...),
	}
}
