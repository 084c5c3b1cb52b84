package tolerance

import (
	"math"
	"math/bits"
)

// Graph is T as a function of one variable: the longest path of a graph whose edges are lines. It is
// much smaller than the schedule, because what has only one way in or out is joined with its
// neighbors while the graph is made.
//
// Its methods may be called from several goroutines at once.
type Graph struct {
	web  // the sink happens at T
	axis axis
	// constant is T at the lowest value. Of the paths with the largest slope of all, steepest is the
	// largest constant.
	constant        int64
	slope, steepest int64
}

// variable returns what T is a function of.
func (g *Graph) variable() Variable { return g.axis.v }

// Given returns the value of the variable at the given parameters.
func (g *Graph) Given() int64 { return g.axis.at }

// Lowest returns the smallest value of the variable: all parameters are at least 0 there.
func (g *Graph) Lowest() int64 { return g.axis.lowest }

// measure computes T at the lowest value and the steepest line, and checks that all fits.
func (g *Graph) measure() error {
	values := make([]int64, g.nodes())
	overflow, from := int64(0), uint32(0)
	for v, to := range g.first[1:] {
		t := int64(0)
		for _, e := range g.edges[from:to] {
			sum := values[e.u] + e.c
			overflow |= sum
			t = max(t, sum)
		}
		values[v], from = t, to
	}
	g.constant = values[len(values)-1]
	slopes := make([]int64, g.nodes())
	from = 0
	for v, to := range g.first[1:] {
		a, c := int64(0), int64(0)
		for _, e := range g.edges[from:to] {
			sum, constant := slopes[e.u]+int64(e.a), values[e.u]+e.c
			overflow |= sum
			if sum > a || sum == a && constant > c {
				a, c = sum, constant
			}
		}
		slopes[v], values[v], from = a, c, to
	}
	g.slope, g.steepest = slopes[len(slopes)-1], values[len(values)-1]
	if overflow < 0 {
		return ErrOverflow
	}
	return nil
}

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
	values := make([]float64, g.nodes())
	for v := range values {
		for _, e := range g.into(v) {
			values[v] = max(values[v], values[e.u]+float64(e.c)+float64(e.a)*float64(x))
		}
	}
	return values[len(values)-1] <= float64(limit)*(1-precision)
}
