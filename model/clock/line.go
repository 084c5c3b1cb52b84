package clock

import (
	"math"

	"slackline/model/unit"
)

// Line is a model of a clock that drifts evenly: at time x on this clock it shows
// Offset + Slope*(x-Origin) more than the reference.
type Line struct {
	Origin        unit.Duration
	Offset, Slope float64
}

// More is what the clock shows more than the reference at its time x.
func (l Line) More(x unit.Duration) float64 { return l.Offset + l.Slope*float64(x-l.Origin) }

// Correct returns the time of the reference when the clock shows x.
func (l Line) Correct(x unit.Duration) unit.Duration {
	return x - unit.Duration(math.RoundToEven(l.More(x)))
}

// Then returns the model that corrects by l and the result by outer: with l from a grandchild to its
// parent and outer from that to the reference, slopes compose as s1 + s2 - s1*s2.
func (l Line) Then(outer Line) Line {
	between := l.Correct(l.Origin)
	return Line{
		Origin: l.Origin,
		Offset: float64(l.Origin-between) + outer.More(between),
		Slope:  l.Slope + outer.Slope - l.Slope*outer.Slope,
	}
}

// FitLine fits a line to pings of this clock with the reference, by least squares over their offsets; each
// ping should be the best one of its moment. One ping gives a line without slope.
func FitLine(pings []Ping) (Line, bool) {
	if len(pings) == 0 {
		return Line{}, false
	}
	l := Line{Origin: pings[0].Middle()}
	n := float64(len(pings))
	var meanX, meanD float64
	for _, p := range pings {
		meanX += float64(p.Middle()-l.Origin) / n
		meanD += float64(p.Offset()) / n
	}
	var sxx, sxd float64
	for _, p := range pings {
		x := float64(p.Middle()-l.Origin) - meanX
		sxx += x * x
		sxd += x * (float64(p.Offset()) - meanD)
	}
	if sxx > 0 {
		l.Slope = sxd / sxx
	}
	l.Offset = meanD - l.Slope*meanX
	return l, true
}
