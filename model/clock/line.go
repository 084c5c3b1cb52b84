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
	points := make([]Point, len(pings))
	for i, p := range pings {
		points[i] = Point{p.Middle(), float64(p.Offset())}
	}
	return FitPoints(points)
}

// Point says that at time At of a clock it showed More than the reference.
type Point struct {
	At   unit.Duration
	More float64
}

// Point is what a ping says of the clock of the one who answered.
func (p Ping) Point() Point { return Point{p.Answered, -float64(p.Offset())} }

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
