package tolerance

import (
	"errors"
	"math/bits"

	"slackline/model/unit"
)

// Search answers several questions about one graph; each answer makes the next ones cheaper. It is
// for one goroutine.
type Search struct {
	g      *Graph
	points []Point // evaluated so far, counted from the lowest value, in no order
}

// Search returns a new search.
func (g *Graph) Search() *Search { return &Search{g: g} }

// At is Graph.At, and remembers the answer.
func (s *Search) At(x int64) (Point, error) {
	if err := s.g.check(x); err != nil {
		return Point{}, err
	}
	p := s.at(x - s.g.axis.lowest)
	p.X = x
	return p, nil
}

// at is At for a value counted from the lowest.
func (s *Search) at(x int64) Point {
	for _, p := range s.points {
		if p.X == x {
			return p
		}
	}
	memory := scratches.Get().(*scratch)
	defer scratches.Put(memory)
	p := s.g.point(x, memory)
	p.X = x
	s.points = append(s.points, p)
	return p
}

// largest returns the largest whole value of the variable with T within a bound, which is in the
// unit of Point.T. T is convex, so that each tangent gives an upper bound of the answer: the search
// comes from the right and never goes too far.
func (s *Search) largest(bound int64) (Largest, error) {
	g := s.g
	if bound < g.constant {
		return Largest{Infeasible: true}, nil
	}
	if g.slope == 0 {
		return Largest{Unbounded: true}, nil
	}
	x := (bound - g.steepest) / g.slope
	for _, p := range s.points {
		if upper, ok := p.upper(bound); ok {
			x = min(x, upper)
		}
	}
	for {
		if !g.fits(x) {
			return Largest{}, ErrOverflow
		}
		p := s.at(x)
		if p.T <= bound {
			return Largest{X: x + g.axis.lowest}, nil
		}
		x, _ = p.upper(bound)
	}
}

// upper returns the largest whole value at which a tangent of the point is within the bound. There
// is none if T does not grow there.
func (p *Point) upper(bound int64) (int64, bool) {
	if p.T > bound {
		return p.X - (p.T-bound+p.Left-1)/p.Left, true // the slope is at least 1: T was within the bound before
	}
	if p.Right == 0 {
		return 0, false
	}
	x := p.X + (bound-p.T)/p.Right
	return x, x >= p.X
}

// Tolerance returns the largest value of the variable at which T is at most the given percentage above
// T at x.
func (s *Search) Tolerance(x int64, percent Percent) (Largest, error) {
	p, err := s.At(x)
	if err != nil {
		return Largest{}, err
	}
	bound, ok := percent.above(p.T)
	if !ok {
		return Largest{}, errors.New("the tolerated runtime is too large; give a smaller percentage")
	}
	return s.largest(bound)
}

// limit is Largest for a bound in time.
func (s *Search) limit(bound unit.Duration) (Largest, error) {
	hi, lo := bits.Mul64(uint64(bound), uint64(s.g.axis.scale))
	if hi != 0 || lo > uint64(maxTime) {
		return Largest{}, ErrOverflow
	}
	return s.largest(int64(lo))
}

// valid returns the values around x between which T is the line that begins at x, both rounded down.
// The upper one is called unbounded if T does not leave the line within 106 days.
func (s *Search) valid(x int64) (lower int64, upper Largest, err error) {
	if err := s.g.check(x); err != nil {
		return 0, Largest{}, err
	}
	p := s.at(x - s.g.axis.lowest)
	return s.validFrom(p) + s.g.axis.lowest, s.validTo(p), nil
}

// validTo looks for the end of the line that begins at p. What T is above the line is convex and
// 0 at p.
func (s *Search) validTo(p Point) Largest {
	g := s.g
	if g.slope == p.Right {
		return Largest{Unbounded: true}
	}
	// The steepest line of all, T = steepest + slope*x, meets this one here.
	above := p.T - p.Right*p.X - g.steepest
	x := above / (g.slope - p.Right)
	cut := !g.fits(x)
	if cut {
		x = g.largestFitting(p.X, x)
	}
	for {
		q := s.at(x)
		over := q.T - p.T - p.Right*(q.X-p.X)
		if over == 0 {
			return Largest{X: x + g.axis.lowest, Unbounded: cut}
		}
		cut = false
		by := q.Left - p.Right
		x -= (over + by - 1) / by
	}
}

// largestFitting returns about the largest value at which T fits, between one at which it does and one
// at which it does not.
func (g *Graph) largestFitting(x, beyond int64) int64 {
	for beyond-x > x>>10+1 {
		if middle := x + (beyond-x)/2; g.fits(middle) {
			x = middle
		} else {
			beyond = middle
		}
	}
	return x
}

// validFrom looks for the start of the line that ends at p, or begins there.
func (s *Search) validFrom(p Point) int64 {
	if p.Left != p.Right || p.X == 0 {
		return p.X
	}
	x := int64(0)
	for {
		q := s.at(x)
		over := q.T - p.T + p.Right*(p.X-q.X)
		if over == 0 {
			if q.Left != q.Right || x == 0 {
				return x
			}
			return x - 1 // the slope changes before x and after x-1, where T is above the line
		}
		by := p.Right - q.Right
		x += (over + by - 1) / by
	}
}
