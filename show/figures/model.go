package figures

import (
	"math"
	"slices"

	"slackline/analyze/scaling"
	"slackline/show/plot"
)

// model draws a model over its first parameter; the other parameters have fixed values.
type model struct {
	fit   *scaling.Fit
	place []float64 // values of the parameters; the first one is not used
	x     []float64 // where curves are computed
}

// newModel draws a model from the smallest measured value of the first parameter to the given one, or to the largest
// measured one, at a number of places that are evenly spaced on a logarithmic axis.
func newModel(fit *scaling.Fit, place []float64, to float64, places int) *model {
	low, high := math.Inf(1), to
	for _, at := range fit.At {
		low, high = min(low, at[0]), max(high, at[0])
	}
	x := make([]float64, places)
	for i := range x {
		x[i] = low * math.Pow(high/low, float64(i)/float64(places-1))
	}
	return &model{fit, place, x}
}

// Reach is the end of a curve as a multiple of the largest measured value, unless the user gives an end.
func Reach(fit *scaling.Fit) float64 {
	if fit.Leads[0].Exp.Sign() > 0 {
		return 1.25 // exponentials soon leave the paper
	}
	return 4
}

// at is the place with another value of the first parameter.
func (m *model) at(x float64) []float64 { return append([]float64{x}, m.place[1:]...) }

// drawable reports whether a value can be drawn on a logarithmic axis.
func drawable(y float64) bool { return y > 0 && !math.IsInf(y, 0) }

// line is a function over the first parameter, as far as it can be drawn.
func (m *model) line(name string, slot int, f func(x float64) float64) *plot.Line {
	line := &plot.Line{Name: name, Slot: slot}
	for _, x := range m.x {
		if y := f(x); drawable(y) {
			line.X, line.Y = append(line.X, x), append(line.Y, y)
		}
	}
	return line
}

func (m *model) value(x float64) float64 { return m.fit.Model.Eval(m.at(x)...) }

// curve is the model.
func (m *model) curve(name string, slot int) *plot.Line { return m.line(name, slot, m.value) }

// through is a term that has the value of the model at the smallest measured value.
func (m *model) through(name string, slot int, t scaling.Term) *plot.Line {
	from, base := m.value(m.x[0]), t.Eval(m.x[0])
	return m.line(name, slot, func(x float64) float64 { return from * t.Eval(x) / base })
}

// band is the interval in which measurements are expected, or, if there are resampled measurements, that of their models.
func (m *model) band(slot int, resampled *scaling.Bootstrap) *plot.Band {
	band := &plot.Band{Name: "90 % band, with noise", Slot: slot}
	if resampled != nil {
		band.Name = "95 % of the resamples"
	}
	for _, x := range m.x {
		var low, high float64
		if resampled != nil {
			p := resampled.Predict(m.at(x)...)
			low, high = p.Low, p.High
		} else {
			p := m.fit.Predict(m.at(x)...)
			low, high = p.MeasuredLow, p.MeasuredHigh
		}
		if drawable(low) && drawable(high) {
			band.X, band.Low, band.High = append(band.X, x), append(band.Low, low), append(band.High, high)
		}
	}
	return band
}

// measured are the measurements that can be drawn, where the other parameters have the values of the place.
func (m *model) measured(name string, slot int) *plot.Points {
	points := &plot.Points{Name: name, Slot: slot}
	for i, at := range m.fit.At {
		if y := m.fit.Values[i]; slices.Equal(at[1:], m.place[1:]) && drawable(y) {
			points.X, points.Y = append(points.X, at[0]), append(points.Y, y)
		}
	}
	return points
}
