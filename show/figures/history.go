package figures

import (
	"slackline/analyze/changes"
	"slackline/model/unit"
	"slackline/show/plot"
)

// History draws a series over the commits: its values, the levels between changes, and where it changed.
func History(r *changes.Result, s *changes.Series) *plot.Chart {
	factor := 1.0
	c := &plot.Chart{X: plot.Axis{Label: "commit", Whole: true}, Y: plot.Axis{Label: s.Metric}}
	switch s.Unit {
	case "s":
		factor, c.Y.Quantity = float64(unit.Second), plot.Time
	case "B":
		c.Y.Quantity = plot.Bytes
	case "":
	default:
		c.Y.Label += ", " + unitName(s.Unit)
	}
	points := &plot.Line{Name: "measured", Slot: 1, Marks: true}
	for i, v := range s.Values {
		points.X, points.Y = append(points.X, float64(s.At[i]+1)), append(points.Y, factor*v)
	}
	c.Layers = []plot.Layer{points}
	for i := range s.Changes {
		change := &s.Changes[i]
		if change.Kind == changes.KindDrift {
			c.Layers = append(c.Layers, &plot.Line{
				Name: "drift, " + change.Size(), Slot: 2 + i, X: []float64{float64(change.Before + 1), float64(change.After + 1)},
				Y: []float64{factor * change.From, factor * change.To},
			})
			continue
		}
		c.Layers = append(c.Layers, &plot.Rule{Name: r.Range(change) + ": " + change.Size(), Slot: 2 + i,
			At: float64(change.Before+change.After)/2 + 1, Vertical: true})
	}
	return c
}
