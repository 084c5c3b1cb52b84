package plot

import (
	"errors"
	"math"
)

// Line joins points by straight lines.
type Line struct {
	Name  string
	Slot  int
	X, Y  []float64
	Marks bool // also draw a marker at each point
}

func (s *Line) base() (string, int) { return s.Name, s.Slot }

func (s *Line) ranges(x, y *interval) error {
	name := describe("line", s.Name)
	return errors.Join(paired(name, "y", len(s.Y), len(s.X)), checked(name, "x", s.X, x), checked(name, "y", s.Y, y))
}

// lineWidth is the width of data lines.
const lineWidth = 1.8

func (s *Line) draw(c canvas, p *panel, l look) {
	places := make([]point, len(s.X))
	for i := range s.X {
		places[i] = p.at(s.X[i], s.Y[i])
	}
	c.path([][]point{reduce(places)}, false, paint{stroke: l.color, width: lineWidth, dash: l.dash})
	if s.Marks {
		drawMarkers(c, thin(places, 0.5), l, 3.2)
	}
}

func (s *Line) key(c canvas, r rect, _ *theme, l look) {
	keyLine(c, r, l)
	if s.Marks {
		drawMarkers(c, []point{{r.x + r.w/2, r.y + r.h/2}}, l, 3.2)
	}
}

// keyLine draws a piece of line in a legend.
func keyLine(c canvas, r rect, l look) {
	y := r.y + r.h/2
	line(c, point{r.x, y}, point{r.right(), y}, paint{stroke: l.color, width: lineWidth, dash: l.dash})
}

// reduce keeps of all points in the same half unit of x in a row the first, the lowest, the
// highest and the last: the line through them covers the same places.
func reduce(places []point) []point {
	const column = 0.5
	if len(places) < 1000 {
		return places
	}
	var kept []point
	for i := 0; i < len(places); {
		cell := math.Floor(places[i].x / column)
		low, high, j := i, i, i
		for ; j < len(places) && math.Floor(places[j].x/column) == cell; j++ {
			if places[j].y < places[low].y {
				low = j
			}
			if places[j].y > places[high].y {
				high = j
			}
		}
		last := -1
		for _, k := range []int{i, min(low, high), max(low, high), j - 1} {
			if k != last {
				kept = append(kept, places[k])
			}
			last = k
		}
		i = j
	}
	return kept
}

// Steps draws a value that is constant between two edges: Y[i] from Edges[i] to Edges[i+1].
type Steps struct {
	Name  string
	Slot  int
	Edges []float64 // one more than Y
	Y     []float64
}

func (s *Steps) base() (string, int) { return s.Name, s.Slot }

func (s *Steps) ranges(x, y *interval) error {
	name := describe("steps", s.Name)
	return errors.Join(paired(name, "edge", len(s.Edges), len(s.Y)+1), checked(name, "edge", s.Edges, x), checked(name, "y", s.Y, y))
}

func (s *Steps) draw(c canvas, p *panel, l look) {
	var places []point
	for i, v := range s.Y {
		places = append(places, p.at(s.Edges[i], v), p.at(s.Edges[i+1], v))
	}
	c.path([][]point{reduce(places)}, false, paint{stroke: l.color, width: lineWidth, dash: l.dash})
}

func (s *Steps) key(c canvas, r rect, _ *theme, l look) { keyLine(c, r, l) }

// Points is a scatter plot. Points that would hide each other are drawn once, so it may hold
// millions.
type Points struct {
	Name string
	Slot int
	X, Y []float64
}

func (s *Points) base() (string, int) { return s.Name, s.Slot }

func (s *Points) ranges(x, y *interval) error {
	name := describe("points", s.Name)
	return errors.Join(paired(name, "y", len(s.Y), len(s.X)), checked(name, "x", s.X, x), checked(name, "y", s.Y, y))
}

// radius gets smaller with the number of points.
func (s *Points) radius() float64 {
	switch n := len(s.X); {
	case n <= 100:
		return 3.2
	case n <= 1000:
		return 2.2
	default:
		return 1.4
	}
}

func (s *Points) draw(c canvas, p *panel, l look) {
	places := make([]point, len(s.X))
	for i := range s.X {
		places[i] = p.at(s.X[i], s.Y[i])
	}
	drawMarkers(c, thin(places, 0.5), l, s.radius())
}

func (s *Points) key(c canvas, r rect, _ *theme, l look) {
	drawMarkers(c, []point{{r.x + r.w/2, r.y + r.h/2}}, l, 3.2)
}
