package tolerance

import (
	"cmp"
	"fmt"
	"slices"
)

// breakpointsWithin returns every value of the variable strictly between from and to at which the slope of T
// changes, ascending.
//
// T is evaluated at whole values first: at the ends, then again and again where the tangents of two
// neighbors cross. What can be critical between two neighbors is a small part of the graph, see
// interval. Its breakpoints are found exactly: by tables of all its lines if there are few slopes,
// else by cutting it again, and in the end by evaluating it where lines cross.
//
// It takes about so many bytes of memory, if they are enough; 0: no limit.
func (g *Graph) breakpointsWithin(from, to, memory int64) ([]Breakpoint, error) {
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
	f := newFinder(g)
	if memory > 0 {
		more := (memory - g.leastBytes()) / (bytesPerSample * int64(g.tape.nodes))
		f.effort.samples = int(min(int64(f.effort.samples), leastSamples+max(more, 0)))
	}
	if from, to := from-g.axis.lowest, to-g.axis.lowest; g.within(to, maxTime/2) { // the sum of two values fits
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

// MemoryError states that there is not enough memory to find all breakpoints of a graph.
type MemoryError struct{ Needed, Limit int64 }

func (e *MemoryError) Error() string {
	return fmt.Sprintf("all breakpoints need at least %d MiB of memory, but only %d MiB are free", e.Needed>>20+1, e.Limit>>20)
}

// leastBytes is about the least memory in which the breakpoints of a graph are found.
func (g *Graph) leastBytes() int64 {
	return int64(g.tape.edges)*bytesPerEdge + int64(g.tape.nodes)*(bytesPerNode+leastSamples*bytesPerSample)
}

// What the search for breakpoints keeps: the edges twice (of an interval may be as many as of the graph), times of the nodes at several
// values, and a number per node for each sample.
const (
	bytesPerEdge   = 2 * 16
	bytesPerNode   = 160
	bytesPerSample = 4
	leastSamples   = 2 * lanes
)

// finder looks for breakpoints. Values are counted from the lowest.
type finder struct {
	web     *web
	effort  effort
	samples []*sample // ascending
	found   []Breakpoint

	values    [][lanes]int64
	window    *window
	walk      walk
	counted   interval // by cost
	pruner    pruner
	tables    tables
	exact     exact
	intervals []*interval // by depth
}

// sample is the graph at one whole value of the variable.
type sample struct {
	Point
	// gap is, by node, how far the longest path through it is below T.
	gap []float32
	// kept is how many nodes may be critical up to the next sample, which is at the value next.
	kept int
	next int64
}

// Rough costs of the ways to go, in the time that it takes to read a constant of a table.
const (
	sampleCost = 13  // per node of the graph
	nodeCost   = 150 // per node of an interval
)

// cost is about what it takes to find the breakpoints up to the next sample. For each slope, tables
// have about one constant for every fourth node, which is read about four times.
func (s *sample) cost(next *sample) int { return s.kept * (nodeCost + int(next.Left-s.Right)) }

// effort is which way to go when. It changes the time, not the result.
type effort struct {
	samples int   // about the largest number of values at which the whole graph is evaluated
	part    int   // no more are taken between neighbors where less than this part of the nodes is left
	table   int64 // tables of up to so many constants per edge are worth their time; beyond, an interval is cut
	small   int64 // tables of up to so many constants always are
	halves  int64 // with so many constants or more, tables meet in the middle if they can
	edges   int   // intervals of up to so many edges are not cut any more
}

var usualEffort = effort{samples: 100, part: 4, table: 64, small: 1 << 12, halves: 1 << 16, edges: 64}

func newFinder(g *Graph) *finder {
	return &finder{web: g.web(), effort: usualEffort}
}

// sample evaluates the graph at the ends of a range and at more and more tangent crossings between
// them, as long as that leaves out much more of the graph between neighbors.
func (f *finder) sample(from, to int64) {
	xs := []int64{from, to}
	for k := 1; k < 2*lanes-1; k++ {
		if x := from + (to-from)>>k; x > from {
			xs = append(xs, x)
		}
	}
	cost, hasFallen := 0, false
	for len(xs) > 0 && len(f.samples) < f.effort.samples {
		slices.Sort(xs)
		xs = slices.Compact(xs)
		spent := len(xs) * f.web.nodes() * sampleCost
		for n := 0; len(xs) > 0; xs = xs[n:] {
			n = min(len(xs), lanes)
			f.evaluate(xs[:n])
		}
		slices.SortFunc(f.samples, func(a, b *sample) int { return cmp.Compare(a.X, b.X) })
		before := cost
		if cost = f.cost(); hasFallen && cost > before-spent {
			return
		}
		hasFallen = hasFallen || cost < before
		xs = f.crossings()
	}
}

// cost counts the nodes that must be looked at between neighbors, and returns what that costs for all
// of them.
func (f *finder) cost() int {
	sum := 0
	for i := 1; i < len(f.samples); i++ {
		left, right := f.samples[i-1], f.samples[i]
		if left.next != right.X {
			left.next, left.kept = right.X, 0
			if !isSimple(left.Point, right.Point) {
				f.counted.reset(left.Point, right.Point)
				left.kept = f.counted.countNodes(left.gap, right.gap)
			}
		}
		sum += left.cost(right)
	}
	return sum
}

// crossings returns the values where the graph should be evaluated next: where the tangents of those
// neighbors cross between which there is most to do.
func (f *finder) crossings() []int64 {
	type candidate struct {
		x    int64
		cost int
	}
	var list []candidate
	for i := 1; i < len(f.samples); i++ {
		a, b := f.samples[i-1], f.samples[i]
		if a.kept <= f.web.nodes()/f.effort.part {
			continue // it is easier to cut what is left of the graph
		}
		c := newCrossing(&a.Point, &b.Point)
		if x, ok := c.inside(a.X, b.X); ok {
			list = append(list, candidate{x, a.cost(b)})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.cost, a.cost), cmp.Compare(a.x, b.x)) })
	var xs []int64
	for _, c := range list[:min(len(list), 2*lanes)] {
		xs = append(xs, c.x)
	}
	return xs
}

// evaluate adds samples at up to lanes values.
func (f *finder) evaluate(xs []int64) {
	g, n := f.web, f.web.nodes()
	if f.values == nil {
		f.values, f.window = make([][lanes]int64, n), newWindow(g)
	}
	var at [lanes]int64
	var gaps [lanes][]float32
	for i := range at {
		at[i] = xs[min(i, len(xs)-1)]
		if i < len(xs) {
			gaps[i] = make([]float32, n)
		} else { // it repeats the last value
			gaps[i] = gaps[i-1]
		}
	}
	g.forwardWide(&at, f.values)
	g.gapsWide(&at, f.values, &gaps, f.window)
	for i, x := range xs {
		s := &sample{Point: Point{X: x, T: f.values[n-1][i]}, gap: gaps[i]}
		s.Left, s.Right = g.slopesWide(i, x, f.values, &f.walk)
		f.samples = append(f.samples, s)
	}
}

// join finds the breakpoints at the samples and between them.
func (f *finder) join() {
	for k := 1; k < len(f.samples); k++ {
		left, right := f.samples[k-1], f.samples[k]
		if !f.takeSimple(left.Point, right.Point) {
			f.between(left, right)
		}
		if k+1 < len(f.samples) {
			f.take(right.Point)
		}
	}
}

// between finds the breakpoints between two samples.
func (f *finder) between(left, right *sample) {
	if left.kept > f.web.nodes()-f.web.nodes()/8 { // hardly anything would be left out
		all := interval{web: *f.web, left: left.Point, right: right.Point}
		if f.byTables(&all) {
			return
		}
	}
	first, second := f.interval(0), f.interval(1)
	f.pruner.cutSamples(f.web, left, right, first)
	first.atLeft.measure(&first.web, left.X)
	first.atRight.measure(&first.web, right.X)
	second.reset(left.Point, right.Point)
	f.pruner.cut(&first.web, &first.atLeft, &first.atRight, second)
	f.solve(1)
}

// take notes a point at which the slopes differ.
func (f *finder) take(p Point) {
	if p.Left != p.Right {
		f.found = append(f.found, Breakpoint{Fraction{p.X, 0, 1}, p.Left, p.Right})
	}
}

// isSimple reports whether the slopes tell that there is at most one breakpoint between two points.
func isSimple(left, right Point) bool { return right.Left-left.Right < 2 }

// takeSimple notes the breakpoint between two points if the slopes tell that there is at most one.
func (f *finder) takeSimple(left, right Point) bool {
	if !isSimple(left, right) {
		return false
	}
	if left.Right < right.Left {
		c := newCrossing(&left, &right)
		f.found = append(f.found, Breakpoint{newFraction(left.X, c.num, c.den), left.Right, right.Left})
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

// solve finds the breakpoints strictly inside the interval of some depth.
func (f *finder) solve(depth int) {
	i := f.interval(depth)
	if f.byTables(i) {
		return
	}
	x, ok := i.crossing.inside(i.left.X, i.right.X)
	if !ok || len(i.edges) <= f.effort.edges {
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

// byTables finds the breakpoints strictly inside an interval by tables, unless these would be too long.
func (f *finder) byTables(i *interval) bool {
	limit := max(f.effort.table*int64(len(i.edges)), f.effort.small)
	if (i.right.Left-i.left.Right)*int64(i.nodes()) > f.effort.halves {
		f.tables.halves.halve(i)
		if f.tables.halves.crosses < i.nodes()/8 {
			if f.tables.measureHalves(i) > limit {
				return false
			}
			f.found = f.tables.breakpointsByHalves(i, f.found)
			return true
		}
	}
	if f.tables.measure(i, i.nodes()) > limit {
		return false
	}
	f.found = f.tables.breakpoints(i, f.found)
	return true
}

// part finds the breakpoints in a part of an interval.
func (f *finder) part(depth int, left, right Point, atLeft, atRight *ways) {
	if f.takeSimple(left, right) {
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
	i := interval{web: *f.web, left: f.web.point(from, s), right: f.web.point(to, s)}
	f.found = f.exact.breakpoints(&i, f.found)
}

// crossing is where the tangents of two neighbors cross.
type crossing struct {
	num, den    int64   // at left.X + num/den
	weightLeft  float64 // it is the mean of the two points with these weights, which are each as
	weightRight float64 // precise as they can be: one of them may be very small
	depth       float64 // how far it is below the chord
}

// newCrossing crosses the right tangent of one point with the left tangent of another one after it,
// whose slopes differ.
func newCrossing(left, right *Point) crossing {
	// left.T + left.Right*z = right.T - right.Left*(width-z)
	width := right.X - left.X
	num := left.T - right.T + right.Left*width
	den := right.Left - left.Right
	whole := float64(den) * float64(width)
	c := crossing{num: num, den: den, weightLeft: float64(den*width-num) / whole, weightRight: float64(num) / whole}
	c.depth = c.weightRight * float64(right.T-left.T-left.Right*width)
	return c
}

// inside returns a whole value next to the crossing, strictly between the points.
func (c *crossing) inside(left, right int64) (x int64, ok bool) {
	x = left + (c.num+c.den/2)/c.den
	x = min(max(x, left+1), right-1)
	return x, left < x && x < right
}
