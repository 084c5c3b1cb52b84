package tolerance

import (
	"errors"
	"math/bits"
	"slices"

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

// know remembers a point that was evaluated elsewhere.
func (s *Search) know(p Point) {
	if p.X -= s.g.axis.lowest; p.X == 0 {
		p.Left = p.Right
	}
	s.points = append(s.points, p)
}

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
	s.evaluate([]int64{x})
	for _, p := range s.points {
		if p.X == x {
			return p
		}
	}
	panic("unreachable")
}

// evaluate evaluates the graph at those of several values, counted from the lowest, at which that has not been done.
func (s *Search) evaluate(xs []int64) {
	var missing []int64
	for _, x := range xs {
		if !slices.Contains(missing, x) && !slices.ContainsFunc(s.points, func(p Point) bool { return p.X == x }) {
			missing = append(missing, x)
		}
	}
	for _, p := range s.g.points(missing) {
		p.X -= s.g.axis.lowest
		s.points = append(s.points, p)
	}
}

// quest is a search that goes from one value to the next, until it has found its answer.
type quest struct {
	x     int64 // where T must be known next, counted from the lowest
	done  bool
	inner int64 // the answer is between it and x
	// take looks at T there, and says where to go on, or that this is the answer.
	take func(p Point) (next int64, done bool)
}

// pursue ends all quests. They go on together: T is computed at several values at once.
func (s *Search) pursue(quests ...*quest) error {
	for {
		var xs []int64
		for _, q := range quests {
			if q.done {
				continue
			}
			if !s.g.fits(q.x) {
				return ErrOverflow
			}
			xs = append(xs, q.x)
		}
		if len(xs) == 0 {
			return nil
		}
		s.evaluate(s.withGuesses(xs, quests))
		for _, q := range quests {
			if !q.done {
				q.x, q.done = q.take(s.at(q.x))
			}
		}
	}
}

// withGuesses adds values at which T may be of use, as many as cost nothing.
func (s *Search) withGuesses(xs []int64, quests []*quest) []int64 {
	room := lanes - 1 - (len(xs)-1)%lanes
	for _, parts := range []int64{2, 8, 32} {
		for _, q := range quests {
			if x := q.x + (q.inner-q.x)/parts; !q.done && room > 0 && !s.g.isSmall() && !slices.Contains(xs, x) {
				xs = append(xs, x)
				room--
			}
		}
	}
	return xs
}

// largest returns the largest whole value of the variable with T within a bound, which is in the unit of Point.T.
func (s *Search) largest(bound int64) (answer Largest, err error) {
	err = s.pursue(s.within(bound, &answer))
	return answer, err
}

// within looks for the largest whole value of the variable with T within a bound. T is convex, so that each tangent gives an upper
// bound of the answer: the search comes from the right and never goes too far.
func (s *Search) within(bound int64, answer *Largest) *quest {
	g := s.g
	if bound < g.constant {
		*answer = Largest{Infeasible: true}
		return &quest{done: true}
	}
	if g.slope == 0 {
		*answer = Largest{Unbounded: true}
		return &quest{done: true}
	}
	x := (bound - g.steepest) / g.slope
	for _, p := range s.points {
		if upper, ok := p.upper(bound); ok {
			x = min(x, upper)
		}
	}
	return &quest{x: x, inner: x, take: func(p Point) (next int64, done bool) {
		if p.T <= bound {
			*answer = Largest{X: p.X + g.axis.lowest}
			return p.X, true
		}
		next, _ = p.upper(bound)
		return next, false
	}}
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
		return Largest{}, errTooLarge
	}
	return s.largest(bound)
}

var errTooLarge = errors.New("the tolerated runtime is too large; give a smaller percentage")

// inUnits turns a time into the unit of Point.T.
func (g *Graph) inUnits(bound unit.Duration) (int64, error) {
	hi, lo := bits.Mul64(uint64(bound), uint64(g.axis.scale))
	if hi != 0 || lo > uint64(maxTime) {
		return 0, ErrOverflow
	}
	return int64(lo), nil
}

// validity is the values around x between which T is the line that begins at x, both rounded down. The upper one is called unbounded if
// T does not leave the line within 106 days.
type validity struct {
	lower int64
	upper Largest
}

// valid looks for both ends of the line that begins at a point.
func (s *Search) valid(p Point, answer *validity) []*quest {
	p.X -= s.g.axis.lowest
	return []*quest{s.validFrom(p, &answer.lower), s.validTo(p, &answer.upper)}
}

// validTo looks for the end of the line that begins at p. What T is above the line is convex and
// 0 at p.
func (s *Search) validTo(p Point, answer *Largest) *quest {
	g := s.g
	if g.slope == p.Right {
		*answer = Largest{Unbounded: true}
		return &quest{done: true}
	}
	// The steepest line of all, T = steepest + slope*x, meets this one here.
	above := p.T - p.Right*p.X - g.steepest
	x := above / (g.slope - p.Right)
	cut := !g.fits(x)
	if cut {
		x = g.largestFitting(p.X, x)
	}
	over := func(q Point) int64 { return q.T - p.T - p.Right*(q.X-p.X) }
	to := &quest{x: x, inner: p.X}
	to.take = func(q Point) (next int64, done bool) {
		if over(q) == 0 {
			*answer = Largest{X: q.X + g.axis.lowest, Unbounded: cut}
			return q.X, true
		}
		cut = false
		next = q.X
		for _, q := range s.points {
			switch above := over(q); {
			case q.X <= p.X:
			case above == 0:
				to.inner = max(to.inner, q.X)
			default:
				by := q.Left - p.Right
				next = min(next, q.X-(above+by-1)/by)
			}
		}
		return next, false
	}
	return to
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
func (s *Search) validFrom(p Point, answer *int64) *quest {
	lowest := s.g.axis.lowest
	if p.Left != p.Right || p.X == 0 {
		*answer = p.X + lowest
		return &quest{done: true}
	}
	over := func(q Point) int64 { return q.T - p.T + p.Right*(p.X-q.X) }
	from := &quest{inner: p.X}
	from.take = func(q Point) (next int64, done bool) {
		if over(q) == 0 {
			*answer = q.X + lowest
			if q.Left == q.Right && q.X > 0 {
				*answer-- // the slope changes before x and after x-1, where T is above the line
			}
			return q.X, true
		}
		for _, q := range s.points {
			switch above := over(q); {
			case q.X >= p.X:
			case above == 0:
				from.inner = min(from.inner, q.X)
			default:
				by := p.Right - q.Right
				next = max(next, q.X+(above+by-1)/by)
			}
		}
		return next, false
	}
	return from
}
