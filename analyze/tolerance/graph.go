package tolerance

import (
	"math"
	"math/bits"
	"sync"
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

// variable returns what T is a function of.
func (g *Graph) variable() Variable { return g.axis.v }

// Given returns the value of the variable at the given parameters.
func (g *Graph) Given() int64 { return g.axis.at }

// Lowest returns the smallest value of the variable: all parameters are at least 0 there.
func (g *Graph) Lowest() int64 { return g.axis.lowest }

// fits reports whether all values fit at x, counted from the lowest value.
func (g *Graph) fits(x int64) bool { return g.within(x, maxTime) }

// fitsTwice reports whether the sum of two values fits at x.
func (g *Graph) fitsTwice(x int64) bool { return g.within(x, maxTime/2) }

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
