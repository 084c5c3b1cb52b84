package scaling

import (
	"fmt"
	"io"
	"math"
	"strings"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/show/curves"
	"slackline/show/plot"
)

// Figures of models.
const (
	mostCurves  = 6
	curvePlaces = 200
)

// draw draws measurements and models over the first parameter; the others have
// their largest values. A single model has its prediction band and, with
// --expect, the expectation with its limits.
func (r *scalingReport) draw(a *env.Env) error {
	var fits []*scaling.Fit
	var resampled *scaling.Bootstrap // of the first
	for i, m := range r.models {
		if m.Err != nil {
			continue
		}
		if len(fits) == 0 && r.resampled != nil {
			resampled = r.resampled[i]
		}
		fits = append(fits, m.Fit)
	}
	if len(fits) > mostCurves {
		a.Warn("--plot: the first %d of %d models are drawn; choose with --only-path and --metric", mostCurves, len(fits))
		fits = fits[:mostCurves]
	}
	f := &ScalingFigure{Parameters: r.data.Parameters, resampled: resampled}
	if f.Place = r.place; f.Place == nil {
		f.Place, _ = (&scaling.Target{Named: map[string]float64{}}).Place(r.data)
		f.Reach = curves.Reach(fits[0])
	}
	for _, fit := range fits {
		f.Add(fit, len(fits) == 1)
	}
	if len(fits) == 1 && r.expect != nil {
		name := r.data.Parameters[0]
		limit := scaling.DefaultLimit(r.expect.Term(name))
		if r.limit != nil && r.limit.Mentions(name) {
			limit = r.limit.Term(name)
		}
		f.Expectation(fits[0], r.expect, limit)
	}
	return WriteFigure(a, f.Chart(a, fits), r.options.plot, r.inputs)
}

// WriteFigure writes a chart to a file.
func WriteFigure(a *env.Env, chart *plot.Chart, path string, inputs []string) error {
	err := a.WriteBytes(path, inputs, func(w io.Writer) error { return plot.Write(w, chart, path, plot.Options{}) })
	if err != nil {
		return err
	}
	a.Note("drew %s", path)
	return nil
}

// ScalingFigure collects the layers of a figure.
type ScalingFigure struct {
	Parameters []string
	Place      []float64          // of the others than the first parameter; the curves reach to the first
	Reach      float64            // or, if it is not 0, so many times the largest measured value
	resampled  *scaling.Bootstrap // for the band; nil: that of the hypotheses
	under      []plot.Layer
	layers     []plot.Layer
	slot       int
}

// model draws a fit as far as the figure goes.
func (f *ScalingFigure) model(fit *scaling.Fit) *curves.Model {
	to := f.Place[0]
	if f.Reach > 0 {
		to = f.Reach * fit.Largest()[0]
	}
	return curves.NewModel(fit, f.Place, to, curvePlaces)
}

// Add draws a fit: its measurements at the place of the other parameters, its
// curve, and its band if wanted.
func (f *ScalingFigure) Add(fit *scaling.Fit, band bool) {
	f.slot++
	m := f.model(fit)
	points, curve := m.Measured("", f.slot), m.Curve(fit.CallPath+": "+fit.Model.String(), f.slot)
	if band {
		points.Name = "measured"
		curve.Name = "model " + fit.Model.String()
		layer := m.Band("90 % band, with noise", f.slot)
		if f.resampled != nil {
			layer = m.Resampled("95 % of the resamples", f.slot, f.resampled)
		}
		if len(layer.X) > 1 {
			f.under = append(f.under, layer)
		}
	}
	f.layers = append(f.layers, curve)
	if len(points.X) > 0 {
		f.layers = append(f.layers, points)
	}
}

// Expectation draws what was expected and its limits, through the model at the
// smallest measured value.
func (f *ScalingFigure) Expectation(fit *scaling.Fit, e *scaling.Expression, limit scaling.Term) {
	expected, m := e.Term(f.Parameters[0]), f.model(fit)
	for _, line := range []*plot.Line{
		m.Through("expected "+e.Text, plot.Neutral, expected),
		m.Through("upper limit", 2, expected.Mul(limit)), m.Through("lower limit", 3, expected.Div(limit)),
	} {
		if len(line.X) > 1 {
			f.layers = append(f.layers, line)
		}
	}
}

// Chart puts the layers together.
func (f *ScalingFigure) Chart(a *env.Env, fits []*scaling.Fit) *plot.Chart {
	title := fits[0].CallPath
	if len(fits) > 1 {
		title = fmt.Sprintf("%d models", len(fits))
	}
	subtitle := fmt.Sprintf("%s over %s", fits[0].Metric, f.Parameters[0])
	if len(f.Parameters) > 1 {
		subtitle += " at " + PlaceText(f.Parameters[1:], f.Place[1:])
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
	x := plot.Axis{Label: f.Parameters[0], Scale: plot.Log2}
	if fits[0].Leads[0].Exp.Sign() > 0 {
		x.Scale = plot.Linear
	}
	return &plot.Chart{
		Title: title, Subtitle: subtitle, Caption: flags.Tool + " " + strings.Join(a.Args, " "),
		X: x, Y: plot.Axis{Label: metric + " (" + unit + ")", Scale: plot.Log10},
		Layers: append(f.under, f.layers...),
	}
}
