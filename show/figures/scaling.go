package figures

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/analyze/scaling"
	"slackline/internal/phrase"
	"slackline/model/dataset"
	"slackline/show/plot"
)

// MaxModels is how many models a figure shows.
const MaxModels = 6

// Scaling is how models are drawn over their first parameter.
type Scaling struct {
	Place     []float64           // values of the parameters; the curves end at the first one
	Reach     float64             // not 0: the curves end at this multiple of the largest measured value instead
	Letters   int                 // of a call path in the legend; 0: all
	Names     []string            // of several models of one series, such as before and after; nil: their call paths
	Resampled *scaling.Bootstrap  // for the band of a single model; nil: the band of its hypotheses
	Expected  *scaling.Expression // drawn with a single model; nil: none
	Limit     scaling.Term        // of what is expected
}

// model is a fit as far as it is drawn.
func (s *Scaling) model(fit *scaling.Fit) *model {
	const places = 200
	to := s.Place[0]
	if s.Reach > 0 {
		to = s.Reach * fit.Largest()[0]
	}
	return newModel(fit, s.Place, to, places)
}

// Models draws measurements and models. A single model has its band and what was expected.
func (s *Scaling) Models(fits []*scaling.Fit) *plot.Chart {
	c := s.chart(fits)
	for i, fit := range fits {
		slot, m := i+1, s.model(fit)
		points, curve := m.measured("", slot), m.curve("", slot)
		if len(fits) == 1 {
			points.Name, curve.Name = "measured", "model "+fit.Model.String()
			if band := m.band(slot, s.Resampled); len(band.X) > 1 {
				c.Layers = append(c.Layers, band)
			}
		} else {
			curve.Name = fit.CallPath
			if s.Names != nil {
				curve.Name = s.Names[i]
			}
			if s.Letters > 0 {
				curve.Name = phrase.ShortPath(curve.Name, s.Letters)
			} else {
				curve.Name += ": " + fit.Model.String()
			}
		}
		if len(curve.X) > 1 {
			c.Layers = append(c.Layers, curve)
		}
		if len(points.X) > 0 {
			c.Layers = append(c.Layers, points)
		}
	}
	if len(fits) == 1 && s.Expected != nil {
		s.expected(c, fits[0])
	}
	return c
}

// expected draws what was expected and its limits, through the model at the smallest measured value.
func (s *Scaling) expected(c *plot.Chart, fit *scaling.Fit) {
	term, m := s.Expected.Term(fit.Parameters[0]), s.model(fit)
	for _, line := range []*plot.Line{
		m.through("expected "+s.Expected.Text, plot.Neutral, term),
		m.through("upper limit", 2, term.Mul(s.Limit)), m.through("lower limit", 3, term.Div(s.Limit)),
	} {
		if len(line.X) > 1 {
			c.Layers = append(c.Layers, line)
		}
	}
}

// chart is the figure without layers.
func (s *Scaling) chart(fits []*scaling.Fit) *plot.Chart {
	first := fits[0]
	c := &plot.Chart{
		Title: first.CallPath, Subtitle: fmt.Sprintf("%s over %s", first.Metric, first.Parameters[0]),
		X: plot.Axis{Label: first.Parameters[0], Scale: plot.Log2}, Y: plot.Axis{Scale: plot.Log10},
	}
	if len(fits) > 1 && s.Names == nil {
		c.Title = fmt.Sprintf("%d models", len(fits))
	}
	if len(first.Parameters) > 1 {
		c.Subtitle += " at " + PlaceText(first.Parameters[1:], s.Place[1:])
	}
	if len(fits) == 1 && first.Doubt == "" && !math.IsNaN(first.Confidence) {
		c.Subtitle += fmt.Sprintf(", %s with confidence %.2f", first.Landau(), first.Confidence)
	}
	metric, unit := first.Metric, first.Unit
	for _, fit := range fits {
		if fit.Metric != metric {
			metric = "value"
		}
		if fit.Unit != unit {
			unit = ""
		}
	}
	c.Y.Label = fmt.Sprintf("%s (%s)", metric, cmp.Or(unitName(unit), "in the unit of the input"))
	if first.Leads[0].Exp.Sign() > 0 {
		c.X.Scale = plot.Linear
	}
	return c
}

// unitName is a unit as figures write it.
func unitName(unit string) string {
	if unit == "us" {
		return "µs"
	}
	return unit
}

// PlaceText prints the values of parameters, such as "p = 64, n = 100".
func PlaceText(names []string, at []float64) string {
	parts := make([]string, len(at))
	for i, x := range at {
		format := byte('g')
		if x == math.Trunc(x) && math.Abs(x) < 1e15 {
			format = 'f' // 1048576, not 1.048576e+06
		}
		parts[i] = fmt.Sprintf("%s = %s", names[i], strconv.FormatFloat(x, format, -1, 64))
	}
	return strings.Join(parts, ", ")
}

// Expectation draws a checked expectation: the model with its band, and what was expected.
func Expectation(c *scaling.Check) *plot.Chart {
	s := &Scaling{Place: c.Target, Expected: c.Expectation.Expect, Limit: c.Limits[0]}
	if c.Target == nil {
		s.Place, s.Reach = c.Fit.Largest(), Reach(c.Fit)
	}
	return s.Models([]*scaling.Fit{c.Fit})
}

// MeasuredRest are the values of the parameters after the first one at which a series is drawn: those with the most
// points, and the largest of these.
func MeasuredRest(s *dataset.Series) []float64 {
	points := slices.SortedFunc(slices.Values(s.Points), func(a, b dataset.Point) int { return slices.Compare(a.At[1:], b.At[1:]) })
	var rest []float64
	count, most := 0, 0
	for i, p := range points {
		if count++; i > 0 && !slices.Equal(p.At[1:], points[i-1].At[1:]) {
			count = 1
		}
		if count >= most {
			rest, most = p.At[1:], count
		}
	}
	return rest
}

// Repetitions draws the repeated measurements of a series at each value of the first parameter as box plots.
func Repetitions(s *dataset.Series, parameter string) (*plot.Chart, error) {
	rest := MeasuredRest(s)
	points := slices.DeleteFunc(slices.Clone(s.Points), func(p dataset.Point) bool {
		return !slices.Equal(p.At[1:], rest) || len(p.Values) == 0
	})
	if len(points) == 0 {
		return nil, errors.New("the series has no measurements")
	}
	slices.SortFunc(points, func(a, b dataset.Point) int { return cmp.Compare(a.At[0], b.At[0]) })
	boxes := &plot.Boxes{Name: "repetitions", Slot: 1}
	for _, p := range points {
		box, err := plot.TukeyBox(p.Values)
		if err != nil {
			return nil, err
		}
		boxes.X, boxes.Boxes = append(boxes.X, p.At[0]), append(boxes.Boxes, box)
	}
	return &plot.Chart{
		Title: s.CallPath, Subtitle: s.Metric + " over " + parameter,
		X: plot.Axis{Label: parameter, Scale: plot.Log2}, Y: plot.Axis{Label: s.Metric}, Layers: []plot.Layer{boxes},
	}, nil
}
