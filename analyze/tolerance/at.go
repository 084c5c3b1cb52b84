package tolerance

import (
	"fmt"
	"sync"
)

// scratch is memory for passes over a graph.
type scratch struct {
	values []int64
	wide   [][lanes]int64
	walk   walk
}

// scratches are kept between calls, also of different graphs.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// valuesFor returns room for a value of each node.
func (s *scratch) valuesFor(g *Graph) []int64 {
	if len(s.values) < g.nodes() {
		s.values = make([]int64, g.nodes())
	}
	return s.values[:g.nodes()]
}

func (s *scratch) wideFor(g *Graph) [][lanes]int64 {
	if len(s.wide) < g.nodes() {
		s.wide = make([][lanes]int64, g.nodes())
	}
	return s.wide[:g.nodes()]
}

// check returns an error if the graph cannot be evaluated at x.
func (g *Graph) check(x int64) error {
	if x < g.axis.lowest {
		return fmt.Errorf("%s cannot be %d: the smallest value is %d, where the smallest of all classes is 0",
			g.axis.v.Parameter, x, g.axis.lowest)
	}
	if !g.fits(x - g.axis.lowest) {
		return fmt.Errorf("%s = %d: %w", g.axis.v.Parameter, x, ErrOverflow)
	}
	return nil
}

// At returns T and its slopes at one value of the variable. At the lowest value there is no left side:
// both slopes are the right one there.
func (g *Graph) At(x int64) (Point, error) {
	if err := g.check(x); err != nil {
		return Point{}, err
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	return g.point(x-g.axis.lowest, s), nil
}

// point is At for a value counted from the lowest.
func (g *Graph) point(x int64, s *scratch) Point {
	values := s.valuesFor(g)
	g.forward(x, values)
	p := Point{X: x + g.axis.lowest, T: values[len(values)-1]}
	p.Left, p.Right = g.slopes(x, values, &s.walk)
	if x == 0 {
		p.Left = p.Right
	}
	return p
}

// AtAll is At for several values, in less time.
func (g *Graph) AtAll(xs []int64) ([]Point, error) {
	for _, x := range xs {
		if err := g.check(x); err != nil {
			return nil, err
		}
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	points := make([]Point, 0, len(xs))
	for len(xs) >= lanes/2 {
		n := min(len(xs), lanes)
		var at [lanes]int64
		for i := range at {
			at[i] = xs[min(i, n-1)] - g.axis.lowest
		}
		points = g.pointsWide(&at, n, s, points)
		xs = xs[n:]
	}
	for _, x := range xs {
		points = append(points, g.point(x-g.axis.lowest, s))
	}
	return points, nil
}

// pointsWide appends the points at the first n of several values, counted from the lowest.
func (g *Graph) pointsWide(x *[lanes]int64, n int, s *scratch, points []Point) []Point {
	values := s.wideFor(g)
	g.forwardWide(x, values)
	for i := range n {
		p := Point{X: x[i] + g.axis.lowest, T: values[len(values)-1][i]}
		p.Left, p.Right = g.slopesWide(i, x[i], values, &s.walk)
		if x[i] == 0 {
			p.Left = p.Right
		}
		points = append(points, p)
	}
	return points
}
