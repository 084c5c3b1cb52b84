package plot

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"slackline/internal/stat"
)

// Box is one box of a box plot.
type Box struct {
	Low, Q1, Median, Q3, High float64   // whisker, quartile, median, quartile, whisker
	Outliers                  []float64 // beyond the whiskers
}

// TukeyBox summarizes samples after Tukey: quartiles by linear interpolation between order
// statistics, whiskers at the outermost samples within 1.5 times the distance of the quartiles,
// all others outliers in rising order. The samples are not changed. It fails on an empty list and
// on values that are not finite.
func TukeyBox(samples []float64) (Box, error) {
	if len(samples) == 0 {
		return Box{}, errors.New("a box plot needs at least one sample")
	}
	sorted := stat.Sorted(samples)
	// Sorting puts NaN first and the infinities at the ends.
	for _, v := range []float64{sorted[0], sorted[len(sorted)-1]} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Box{}, fmt.Errorf("a box plot of samples with %g; only finite values can be drawn", v)
		}
	}
	b := Box{Q1: stat.Quantile(sorted, 0.25), Median: stat.Quantile(sorted, 0.5), Q3: stat.Quantile(sorted, 0.75)}
	reach := 1.5 * (b.Q3 - b.Q1)
	b.Low, b.High = b.Q1, b.Q3
	for _, v := range sorted {
		if v < b.Q1-reach || v > b.Q3+reach {
			b.Outliers = append(b.Outliers, v)
			continue
		}
		b.Low, b.High = math.Min(b.Low, v), math.Max(b.High, v)
	}
	return b, nil
}

// Boxes is a series of box plots. Several such layers are side by side at each place.
type Boxes struct {
	Name  string
	Slot  int
	X     []float64
	Boxes []Box
}

func (s *Boxes) base() (string, int) { return s.Name, s.Slot }

func (s *Boxes) ranges(x, y *interval) error {
	name := describe("boxes", s.Name)
	errs := []error{paired(name, "box", len(s.Boxes), len(s.X)), checked(name, "x", s.X, x)}
	for i, b := range s.Boxes {
		errs = append(errs, checked(fmt.Sprintf("%s: box %d", name, i), "box", []float64{b.Low, b.Q1, b.Median, b.Q3, b.High}, y),
			checked(fmt.Sprintf("%s: box %d", name, i), "outlier", b.Outliers, y))
		if !(b.Low <= b.Q1 && b.Q1 <= b.Median && b.Median <= b.Q3 && b.Q3 <= b.High) {
			errs = append(errs, fmt.Errorf("%s: box %d is not in order: %g, %g, %g, %g, %g", name, i, b.Low, b.Q1, b.Median, b.Q3, b.High))
		}
	}
	return errors.Join(errs...)
}

// draw paints the boxes. Outliers that would hide each other are drawn once.
func (s *Boxes) draw(c canvas, p *panel, l look) {
	width, offset := p.boxPlace(s)
	edge := paint{stroke: l.color, width: 1.3}
	var bodies []rect
	var whiskers, medians [][]point
	var outliers []point
	for i, b := range s.Boxes {
		x := p.x.at(s.X[i]) + offset
		left, right, capWidth := x-width/2, x+width/2, width/4
		top, bottom := p.y.at(b.Q3), p.y.at(b.Q1)
		bodies = append(bodies, rect{left, top, width, bottom - top})
		high, low, median := p.y.at(b.High), p.y.at(b.Low), p.y.at(b.Median)
		whiskers = append(whiskers,
			[]point{{x, top}, {x, high}}, []point{{x - capWidth, high}, {x + capWidth, high}},
			[]point{{x, bottom}, {x, low}}, []point{{x - capWidth, low}, {x + capWidth, low}})
		medians = append(medians, []point{{left, median}, {right, median}})
		var column []point
		for _, v := range b.Outliers {
			column = append(column, point{x, p.y.at(v)})
		}
		outliers = append(outliers, thin(column, 1.5)...)
	}
	if len(bodies) == 0 {
		return
	}
	c.path(whiskers, false, edge)
	c.rects(bodies, paint{fill: p.th.ground})
	c.rects(bodies, paint{fill: fade(l.color, bandShare), stroke: l.color, width: 1.3})
	c.path(medians, false, paint{stroke: l.color, width: 2.6})
	drawMarkers(c, outliers, l, math.Min(2, math.Max(1.2, width/8)))
}

func (s *Boxes) key(c canvas, r rect, _ *theme, l look) {
	c.rects([]rect{r}, paint{fill: fade(l.color, bandShare), stroke: l.color, width: 1.3})
	line(c, point{r.x, r.y + r.h/2}, point{r.right(), r.y + r.h/2}, paint{stroke: l.color, width: 2.6})
}

// boxPlace returns the width of the boxes of a layer and their distance from their place: the
// room between neighbors is shared by all layers of boxes.
func (p *panel) boxPlace(s *Boxes) (width, offset float64) {
	var places []float64
	index, count := 0, 0
	for _, l := range p.layers {
		boxes, ok := l.(*Boxes)
		if !ok {
			continue
		}
		if boxes == s {
			index = count
		}
		count++
		for _, x := range boxes.X {
			places = append(places, p.x.at(x))
		}
	}
	slices.Sort(places)
	room := 60.0
	for i := 1; i < len(places); i++ {
		if d := places[i] - places[i-1]; d > 0.01 {
			room = math.Min(room, d)
		}
	}
	share := math.Max(room*0.72/float64(count), 2)
	width = math.Min(share*0.86, 26)
	step := math.Min(share, width*1.15)
	return width, (float64(index) - float64(count-1)/2) * step
}
