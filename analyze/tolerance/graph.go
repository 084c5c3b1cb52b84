package tolerance

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"sync"

	"slackline/internal/parallel"
)

// Graph is T as a function of one variable: the longest path of a graph whose edges are lines. It is
// much smaller than the schedule, because what has only one way in or out is joined with its
// neighbors while the graph is made. It is kept as a tape; small graphs, and those whose breakpoints are asked for, also as a web.
//
// Its methods may be called from several goroutines at once.
type Graph struct {
	tape *tape
	web  func() *web // made when it is first asked for
	axis axis
	// constant is T at the lowest value. Of the paths with the largest slope of all, steepest is the
	// largest constant.
	constant        int64
	slope, steepest int64
	onTape          bool // also if it is small, for tests
}

// newGraph computes T at the lowest value and the steepest line, and checks that all fits.
func newGraph(t *tape, x axis) (*Graph, error) {
	g := &Graph{tape: t, axis: x, web: sync.OnceValue(func() *web { w := t.web(); return &w })}
	g.axis.costs = nil
	var ok bool
	if g.constant, g.slope, g.steepest, ok = t.steepest(); !ok {
		return nil, ErrOverflow
	}
	return g, nil
}

// smallGraph is the number of edges up to which a graph is evaluated as a web, which is faster and takes more memory.
const smallGraph = 1 << 21

func (g *Graph) isSmall() bool { return !g.onTape && g.tape.edges <= smallGraph }

// Given returns the value of the variable at the given parameters.
func (g *Graph) Given() int64 { return g.axis.at }

// Lowest returns the smallest value of the variable: all parameters are at least 0 there.
func (g *Graph) Lowest() int64 { return g.axis.lowest }

// fits reports whether all values fit at x, counted from the lowest value.
func (g *Graph) fits(x int64) bool { return g.within(x, maxTime) }

// within reports whether no value is above a limit at x. No value is above T. T is at most what a path
// would be that is the longest one at the lowest value and also the steepest one; only if that is
// not enough, T is computed, in floating point.
func (g *Graph) within(x, limit int64) bool {
	hi, lo := bits.Mul64(uint64(x), uint64(g.slope))
	if hi == 0 && lo <= math.MaxInt64 && int64(lo) <= limit-g.constant {
		return true
	}
	const precision = 1e-9
	if float64(g.steepest)+float64(g.slope)*float64(x) > float64(limit)*(1-precision) {
		return false
	}
	return g.tape.roughly(float64(x)) <= float64(limit)*(1-precision)
}

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
	if !g.isSmall() {
		points = points[:len(xs)]
		parallel.Chunks(len(xs), lanes, runtime.GOMAXPROCS(0), func(_, from, to int) {
			for i, h := range g.heights(xs[from:to]) {
				points[from+i] = Point{xs[from+i], h.t, h.left, h.right}
			}
		})
		xs = nil
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for len(xs) > 0 {
		n := min(len(xs), lanes)
		if n >= lanes/2 {
			points = g.web().pointsWide(xs[:n], s, points)
		} else {
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

// heights evaluates the tape at up to lanes values. If there is room for it, T is computed a little to the left and to the right of each of
// them instead, in units so small that nothing but the slope makes a difference there: that is quicker than to keep slopes.
func (g *Graph) heights(xs []int64) []height {
	shift := bits.Len64(uint64(g.slope))
	var near [2 * lanes]int64
	for i, x := range xs {
		hi, lo := bits.Mul64(uint64(x), uint64(g.slope))
		if hi != 0 || lo > math.MaxInt64>>1 || bits.Len64(lo+uint64(g.constant))+shift > 61 || x > math.MaxInt64>>(shift+1) {
			return g.tape.heights(xs)
		}
		near[2*i], near[2*i+1] = max(x<<shift-1, 0), x<<shift+1
	}
	top := g.tape.forward(&near, shift)
	list := make([]height, len(xs))
	for i, x := range xs {
		left, right := top[2*i], top[2*i+1]
		t := right >> shift
		list[i] = height{t, t<<shift - left, right - t<<shift}
		if x == 0 {
			list[i].left = 0
		}
	}
	return list
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
