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

// Point states that at time At of a clock it showed More than the reference.
type Point struct {
	At   unit.Duration
	More float64
}

// Point is what a ping says of the clock of the one who answered.
func (p Ping) Point() Point { return Point{p.Answered, -float64(p.offset())} }

// FitPoints fits a line to points by least squares. One point gives a line without slope.
func FitPoints(points []Point) (Line, bool) {
	if len(points) == 0 {
		return Line{}, false
	}
	l := Line{Origin: points[0].At}
	n := float64(len(points))
	var meanX, meanD float64
	for _, p := range points {
		meanX += float64(p.At-l.Origin) / n
		meanD += p.More / n
	}
	var sxx, sxd float64
	for _, p := range points {
		x := float64(p.At-l.Origin) - meanX
		sxx += x * x
		sxd += x * (p.More - meanD)
	}
	if sxx > 0 {
		l.Slope = sxd / sxx
	}
	l.Offset = meanD - l.Slope*meanX
	return l, true
}
