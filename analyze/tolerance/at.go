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
func (s *scratch) valuesFor(g *web) []int64 {
	if len(s.values) < g.nodes() {
		s.values = make([]int64, g.nodes())
	}
	return s.values[:g.nodes()]
}

func (s *scratch) wideFor(g *web) [][lanes]int64 {
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
	return g.points([]int64{x - g.axis.lowest})[0], nil
}

// AtAll is At for several values, in less time.
func (g *Graph) AtAll(xs []int64) ([]Point, error) {
	from := make([]int64, len(xs))
	for i, x := range xs {
		if err := g.check(x); err != nil {
			return nil, err
		}
		from[i] = x - g.axis.lowest
	}
	return g.points(from), nil
}

// points is AtAll for values counted from the lowest.
func (g *Graph) points(xs []int64) []Point {
	points := make([]Point, 0, len(xs))
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for len(xs) > 0 {
		n := min(len(xs), lanes)
		switch {
		case !g.isSmall():
			for i, h := range g.tape.heights(xs[:n]) {
				points = append(points, Point{xs[i], h.t, h.left, h.right})
			}
		case n >= lanes/2:
			points = g.web().pointsWide(xs[:n], s, points)
		default:
			n = 1
			points = append(points, g.web().point(xs[0], s))
		}
		xs = xs[n:]
	}
	for i := range points {
		p := &points[i]
		if p.X == 0 {
			p.Left = p.Right
		}
		p.X += g.axis.lowest
	}
	return points
}

// point evaluates the graph at one value.
func (g *web) point(x int64, s *scratch) Point {
	values := s.valuesFor(g)
	g.forward(x, values)
	p := Point{X: x, T: values[len(values)-1]}
	p.Left, p.Right = g.slopes(x, values, &s.walk)
	return p
}

// pointsWide appends the points at up to lanes values.
func (g *web) pointsWide(xs []int64, s *scratch, points []Point) []Point {
	var x [lanes]int64
	for i := range x {
		x[i] = xs[min(i, len(xs)-1)]
	}
	values := s.wideFor(g)
	g.forwardWide(&x, values)
	for i := range xs {
		p := Point{X: x[i], T: values[len(values)-1][i]}
		p.Left, p.Right = g.slopesWide(i, x[i], values, &s.walk)
		points = append(points, p)
	}
	return points
}
