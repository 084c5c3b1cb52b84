package tolerance

import (
	"cmp"
	"fmt"
	"slices"
)

// Breakpoints returns every value of the variable strictly between from and to at which the slope of T
// changes, ascending.
//
// T is evaluated at whole values first: at the ends, then again and again where the tangents of two
// neighbours cross. What can be critical between two neighbours is a small part of the graph, see
// interval. Its breakpoints are found exactly: by tables of all its lines if there are few slopes,
// else by cutting it again, and in the end by evaluating it where lines cross.
func (g *Graph) Breakpoints(from, to int64) ([]Breakpoint, error) {
	if from > to {
		return nil, fmt.Errorf("the range from %d to %d is empty", from, to)
	}
	for _, x := range []int64{from, to} {
		if err := g.check(x); err != nil {
			return nil, err
		}
	}
	if from == to || g.slope == 0 {
		return nil, nil
	}
	f := finder{g: g}
	if from, to := from-g.axis.lowest, to-g.axis.lowest; g.fitsTwice(to) {
		f.sample(from, to)
		f.join()
	} else {
		f.whole(from, to)
	}
	for i := range f.found {
		f.found[i].X.Whole += g.axis.lowest
	}
	return f.found, nil
}

// finder looks for breakpoints. Values are counted from the lowest.
type finder struct {
	g       *Graph
	samples []*sample // ascending
	found   []Breakpoint

	forward, backward [][lanes]int64
	walk              walk
	pruner            pruner
	tables            tables
	exact             exact
	intervals         []*interval // by depth
}

// sample is the graph at one whole value of the variable.
type sample struct {
	Point
	// gap is, by node, how far the longest path through it is below T.
	gap []float32
}

// maxSamples bounds the values at which the whole graph is evaluated.
const maxSamples = 40

// sample evaluates the graph at the ends of a range and at more and more tangent crossings between
// them.
func (f *finder) sample(from, to int64) {
	xs := []int64{from, to}
	for k := 1; k < 2*lanes-1; k++ {
		if x := from + (to-from)>>k; x > from {
			xs = append(xs, x)
		}
	}
	for len(xs) > 0 && len(f.samples) < maxSamples {
		slices.Sort(xs)
		xs = slices.Compact(xs)
		for n := 0; len(xs) > 0; xs = xs[n:] {
			n = min(len(xs), lanes)
			f.evaluate(xs[:n])
		}
		slices.SortFunc(f.samples, func(a, b *sample) int { return cmp.Compare(a.X, b.X) })
		xs = f.crossings()
	}
}

// crossings returns the values where the graph should be evaluated next: where the tangents of
// neighbours cross farthest below their chord.
func (f *finder) crossings() []int64 {
	type candidate struct {
		x     int64
		depth float64
	}
	var list []candidate
	for i := 1; i < len(f.samples); i++ {
		a, b := &f.samples[i-1].Point, &f.samples[i].Point
		if b.Left-a.Right < 2 {
			continue // no slope is between the two: their crossing is the only breakpoint
		}
		c := newCrossing(a, b)
		if x, ok := c.inside(a.X, b.X); ok {
			list = append(list, candidate{x, c.depth})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.depth, a.depth), cmp.Compare(a.x, b.x)) })
	var xs []int64
	for _, c := range list[:min(len(list), 2*lanes)] {
		xs = append(xs, c.x)
	}
	return xs
}

// evaluate adds samples at up to lanes values.
func (f *finder) evaluate(xs []int64) {
	g, n := f.g, f.g.nodes()
	if f.forward == nil {
		f.forward, f.backward = make([][lanes]int64, n), make([][lanes]int64, n)
	}
	var at [lanes]int64
	for i := range at {
		at[i] = xs[min(i, len(xs)-1)]
	}
	g.forwardWide(&at, f.forward)
	g.backwardWide(&at, f.backward)
	for i, x := range xs {
		s := &sample{Point: Point{X: x, T: f.forward[n-1][i]}, gap: make([]float32, n)}
		s.Left, s.Right = g.slopesWide(i, x, f.forward, &f.walk)
		for v := range s.gap {
			s.gap[v] = float32(s.T - f.forward[v][i] - f.backward[v][i])
		}
		f.samples = append(f.samples, s)
	}
}

// join finds the breakpoints at the samples and between them.
func (f *finder) join() {
	for k := 1; k < len(f.samples); k++ {
		left, right := f.samples[k-1], f.samples[k]
		if !f.isSimple(left.Point, right.Point) {
			first, second := f.interval(0), f.interval(1)
			f.pruner.cutSamples(&f.g.web, left, right, first)
			first.atLeft.measure(&first.web, left.X)
			first.atRight.measure(&first.web, right.X)
			second.reset(left.Point, right.Point)
			f.pruner.cut(&first.web, &first.atLeft, &first.atRight, second)
			f.solve(1)
		}
		if k+1 < len(f.samples) {
			f.take(right.Point)
		}
	}
}

// take notes a point at which the slopes differ.
func (f *finder) take(p Point) {
	if p.Left != p.Right {
		f.found = append(f.found, Breakpoint{Fraction{p.X, 0, 1}, p.Left, p.Right})
	}
}

// isSimple finds the breakpoint between two points if there is at most one, as the slopes tell.
func (f *finder) isSimple(left, right Point) bool {
	switch right.Left - left.Right {
	case 0:
	case 1:
		c := newCrossing(&left, &right)
		f.found = append(f.found, Breakpoint{newFraction(left.X, c.num, c.den), left.Right, right.Left})
	default:
		return false
	}
	return true
}

// interval returns the memory for an interval of some depth.
func (f *finder) interval(depth int) *interval {
	for depth >= len(f.intervals) {
		f.intervals = append(f.intervals, new(interval))
	}
	return f.intervals[depth]
}

// Tables of up to so many constants per edge are worth their time; beyond, an interval is cut again.
// Small ones are not worth that.
const (
	maxTable   = 64
	fewEdges   = 64
	smallTable = 1 << 12
)

// solve finds the breakpoints strictly inside the interval of some depth.
func (f *finder) solve(depth int) {
	i := f.interval(depth)
	limit := max(maxTable*int64(len(i.edges)), smallTable)
	if constants, ok := f.tables.size(i, limit); ok {
		f.tables.fill(i, constants)
		f.found = f.tables.breakpoints(i, f.found)
		return
	}
	x, ok := i.crossing.inside(i.left.X, i.right.X)
	if !ok || len(i.edges) <= fewEdges {
		f.found = f.exact.breakpoints(i, f.found)
		return
	}
	i.atLeft.measure(&i.web, i.left.X)
	i.atMiddle.measure(&i.web, x)
	i.atRight.measure(&i.web, i.right.X)
	middle := Point{X: x, T: i.atMiddle.from[i.nodes()-1]}
	middle.Left, middle.Right = i.slopes(x, i.atMiddle.from, &f.walk)
	f.part(depth, i.left, middle, &i.atLeft, &i.atMiddle)
	f.take(middle)
	f.part(depth, middle, i.right, &i.atMiddle, &i.atRight)
}

// part finds the breakpoints in a part of an interval.
func (f *finder) part(depth int, left, right Point, atLeft, atRight *ways) {
	if f.isSimple(left, right) {
		return
	}
	part := f.interval(depth + 1)
	part.reset(left, right)
	f.pruner.cut(&f.intervals[depth].web, atLeft, atRight, part)
	f.solve(depth + 1)
}

// whole finds the breakpoints of a graph whose values are too large for anything but exact.
func (f *finder) whole(from, to int64) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	i := interval{web: f.g.web, left: f.g.point(from, s), right: f.g.point(to, s)}
	i.left.X, i.right.X = from, to
	f.found = f.exact.breakpoints(&i, f.found)
}

// crossing is where the tangents of two neighbours cross.
type crossing struct {
	num, den int64   // at left.X + num/den
	f        float64 // as a part of the way from left to right
	depth    float64 // how far it is below the chord
}

// newCrossing crosses the right tangent of one point with the left tangent of another one behind it,
// whose slopes differ.
func newCrossing(left, right *Point) crossing {
	// left.T + left.Right*z = right.T - right.Left*(width-z)
	width := right.X - left.X
	num := left.T - right.T + right.Left*width
	den := right.Left - left.Right
	z := float64(num) / float64(den)
	chord := float64(right.T-left.T) / float64(width)
	return crossing{num, den, z / float64(width), z * (chord - float64(left.Right))}
}

// inside returns a whole value next to the crossing, strictly between the points.
func (c *crossing) inside(left, right int64) (x int64, ok bool) {
	x = left + (c.num+c.den/2)/c.den
	x = min(max(x, left+1), right-1)
	return x, left < x && x < right
}
