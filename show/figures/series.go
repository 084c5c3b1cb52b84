package figures

import (
	"slackline/analyze/whatif"
	"slackline/model/unit"
	"slackline/show/plot"
)

// wideRange is the ratio of the largest to the smallest time from which on times need a logarithmic axis.
const wideRange = 30

// Series draws the run time over the number of ranks, without noise and, as box plots, with noise.
func Series(points []whatif.Point, noise bool) *plot.Chart {
	boxes := &plot.Boxes{Name: "with noise"}
	quiet := &plot.Line{Name: "without noise", Slot: plot.Neutral, Marks: true}
	smallest, largest := points[0].Noiseless, unit.Duration(0)
	for i := range points {
		d := points[i].Distribution()
		x := float64(d.Ranks)
		quiet.X, quiet.Y = append(quiet.X, x), append(quiet.Y, float64(d.Noiseless))
		smallest, largest = min(smallest, d.Noiseless), max(largest, d.Max)
		box := plot.Box{Low: float64(d.Whiskers[0]), Q1: float64(d.Q1), Median: float64(d.Median), Q3: float64(d.Q3),
			High: float64(d.Whiskers[1])}
		for _, o := range d.Outliers {
			box.Outliers = append(box.Outliers, float64(o))
		}
		boxes.X, boxes.Boxes = append(boxes.X, x), append(boxes.Boxes, box)
	}
	c := &plot.Chart{
		X:      plot.Axis{Label: "processes", Scale: plot.Log2, Whole: true},
		Y:      plot.Axis{Label: "completion time", Quantity: plot.Time, FromZero: true},
		Layers: []plot.Layer{boxes, quiet},
	}
	if !noise {
		c.Layers = []plot.Layer{quiet}
	}
	if smallest > 0 && largest/smallest >= wideRange {
		c.Y.Scale, c.Y.FromZero = plot.Log10, false
	}
	return c
}

// Schemes shows the time of a collective that each benchmarking scheme reports, and the true time.
func Schemes(answers []*whatif.SchemeAnswer) *plot.Chart {
	c := &plot.Chart{
		X: plot.Axis{Label: "ranks", Scale: plot.Log2, Whole: true},
		Y: plot.Axis{Label: "time of one execution", Quantity: plot.Time, Scale: plot.Log10},
	}
	add := func(line *plot.Line, value func(*whatif.SchemeAnswer) float64) {
		for _, a := range answers {
			if v := value(a); v > 0 {
				line.X, line.Y = append(line.X, float64(a.Ranks)), append(line.Y, v)
			}
		}
		if len(line.X) > 0 {
			c.Layers = append(c.Layers, line)
		}
	}
	add(&plot.Line{Name: "true", Slot: plot.Neutral}, func(a *whatif.SchemeAnswer) float64 { return float64(a.True) })
	for i, name := range whatif.SimulatedSchemes {
		add(&plot.Line{Name: name, Slot: i + 1, Marks: true}, func(a *whatif.SchemeAnswer) float64 { return a.Schemes[i].Reported })
	}
	return c
}
