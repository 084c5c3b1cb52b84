package tolerance

// interval is the graph between two whole values of the variable, at which T is known, without all
// nodes and edges that cannot be on a critical path between them.
//
// The longest path through a node or an edge is convex in the variable, so it is nowhere above its
// chord. If it is g0 and g1 below T at the ends, then it is at least (1-f)*g0 + f*g1 below the chord
// of T where the tangents of T cross, a part f of the way. If that is more than the crossing itself
// is below the chord, it is below both tangents in between; and T is nowhere below these.
type interval struct {
	web
	left, right Point
	crossing    crossing

	// By node: the longest paths from the source and to the sink at some value of the variable. Filled
	// when the interval is cut.
	atLeft, atMiddle, atRight ways
}

// ways are the longest paths from the source to nodes, and from nodes to the sink.
type ways struct{ from, to []int64 }

// measure computes the longest paths at x.
func (w *ways) measure(g *web, x int64) {
	n := g.nodes()
	if cap(w.from) < n {
		w.from, w.to = make([]int64, n+n/4), make([]int64, n+n/4)
	}
	w.from, w.to = w.from[:n], w.to[:n]
	g.forward(x, w.from)
	g.backward(x, w.to)
}

// reset makes an interval between two points, without any node but the source.
func (i *interval) reset(left, right Point) {
	i.left, i.right, i.crossing = left, right, newCrossing(&left, &right)
	i.first, i.edges = append(i.first[:0], 0, 0), i.edges[:0]
}

// limit is the gap, weighted by the crossing, above which something is left out. The margin is for the
// precision of the numbers that are compared with it.
func (i *interval) limit() float64 {
	return i.crossing.depth*(1+1e-5) + 2 + 1e-12*float64(i.right.T)
}

// value is when a node happens: value of another node + c + a*x; a negative node cannot be reached.
type value struct {
	c    int64
	a    int32
	node int32
}

// source is the value of the node that waits for nothing.
var source = value{}

// pruner makes intervals. Its memory is used for one after the other.
type pruner struct {
	name   []uint32 // by node of the graph: its place in values, plus 1; 0: it was left out
	kept   []uint32 // nodes of the graph that were not left out
	values []value  // by name: what a node has become
	lines  []line   // into the present node
	seen   []uint32 // by node of the interval: where in lines its first line is, if it is
}

// cutSamples fills an interval with what can be critical between two samples of a graph.
func (p *pruner) cutSamples(g *web, left, right *sample, to *interval) {
	to.reset(left.Point, right.Point)
	p.kept = to.keepNodes(left.gap, right.gap, p.kept[:0])
	if len(p.name) < g.nodes() {
		p.name = make([]uint32, g.nodes())
	}
	p.values = append(p.values[:0], source)
	p.name[0] = 1
	last := uint32(g.nodes() - 1)
	for _, v := range p.kept {
		p.lines = p.lines[:0]
		for _, e := range g.into(int(v)) {
			if at := p.name[e.u]; at != 0 {
				p.addLine(&p.values[at-1], e, to)
			}
		}
		if len(p.lines) > 0 { // else it is the source, or cannot be reached
			p.values = append(p.values, p.take(to, v == last))
			p.name[v] = uint32(len(p.values))
		}
	}
	for _, v := range p.kept {
		p.name[v] = 0
	}
}

// keepNodes appends the nodes that can be critical, given their gaps at the ends.
func (i *interval) keepNodes(gap0, gap1 []float32, kept []uint32) []uint32 {
	limit := float32(i.limit())
	w0, w1 := float32(i.crossing.weightLeft), float32(i.crossing.weightRight)
	gap1 = gap1[:len(gap0)]
	for v, g0 := range gap0 {
		if w0*g0+w1*gap1[v] <= limit {
			kept = append(kept, uint32(v))
		}
	}
	return kept
}

// countNodes counts what keepNodes would append.
func (i *interval) countNodes(gap0, gap1 []float32) (kept int) {
	limit := float32(i.limit())
	w0, w1 := float32(i.crossing.weightLeft), float32(i.crossing.weightRight)
	gap1 = gap1[:len(gap0)]
	for v, g0 := range gap0 {
		if w0*g0+w1*gap1[v] <= limit {
			kept++
		}
	}
	return kept
}

// cut fills an interval with what can be critical in a part of another one, at whose ends the longest
// paths are known.
func (p *pruner) cut(g *web, atLeft, atRight *ways, to *interval) {
	x0, x1 := to.left.X, to.right.X
	limit, w0, w1 := to.limit(), to.crossing.weightLeft, to.crossing.weightRight
	p.values = append(p.values[:0], source)
	last := g.nodes() - 1
	for v := 1; v <= last; v++ {
		p.lines = p.lines[:0]
		rest0, rest1 := to.left.T-atLeft.to[v], to.right.T-atRight.to[v]
		for _, e := range g.into(v) {
			gap0 := rest0 - atLeft.from[e.u] - e.c - int64(e.a)*x0
			gap1 := rest1 - atRight.from[e.u] - e.c - int64(e.a)*x1
			if u := &p.values[e.u]; u.node >= 0 && w0*float64(gap0)+w1*float64(gap1) <= limit {
				p.addLine(u, e, to)
			}
		}
		if len(p.lines) == 0 {
			p.values = append(p.values, value{node: -1})
		} else {
			p.values = append(p.values, p.take(to, v == last))
		}
	}
}

// addLine adds an edge to the present node, unless another one from the same node is not below it at
// both ends. u is what its tail has become.
func (p *pruner) addLine(u *value, e line, to *interval) {
	node, c, a := uint32(u.node), u.c+e.c, int64(u.a)+int64(e.a)
	for ; a > maxSlope; a -= maxSlope {
		node = to.addSlope(node)
	}
	for int(node) >= len(p.seen) {
		p.seen = append(p.seen, 0)
	}
	n := uint32(len(p.lines))
	first := p.seen[node]
	if first >= n || p.lines[first].u != node {
		p.seen[node], first = n, n
	}
	for i := first; i < min(n, first+maxCompared); i++ {
		q := &p.lines[i]
		if q.u != node {
			continue
		}
		more, steeper := c-q.c, a-int64(q.a)
		at0, at1 := more+steeper*to.left.X, more+steeper*to.right.X
		if at0 <= 0 && at1 <= 0 {
			return
		}
		if at0 >= 0 && at1 >= 0 {
			q.c, q.a = c, int32(a)
			return
		}
	}
	p.lines = append(p.lines, line{c, int32(a), node})
}

// take ends the present node. If it has one way in it is not a node of its own, unless it is the sink.
func (p *pruner) take(to *interval, isSink bool) value {
	if len(p.lines) == 1 && !isSink {
		l := p.lines[0]
		return value{l.c, l.a, int32(l.u)}
	}
	to.edges = append(to.edges, p.lines...)
	return value{node: int32(to.endNode())}
}
