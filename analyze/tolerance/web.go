package tolerance

import (
	"cmp"
	"math/bits"
	"slices"
)

// web are the nodes and edges of a graph. The edges into node v are edges[first[v]:first[v+1]], all from
// nodes before v. Node 0 is the source, which happens at 0; the last node is the sink. Constants and
// slopes of edges are at least 0.
type web struct {
	first []uint32
	edges []line
}

// line is an edge: value of node u + c + a*x.
type line struct {
	c int64
	a int32
	u uint32
}

func (g *web) nodes() int { return len(g.first) - 1 }

// into returns the edges into a node.
func (g *web) into(v int) []line { return g.edges[g.first[v]:g.first[v+1]] }

// endNode ends the node to which the last edges belong.
func (g *web) endNode() uint32 {
	g.first = append(g.first, uint32(len(g.edges)))
	return uint32(len(g.first) - 2)
}

// maxSlope is the largest slope of an edge.
const maxSlope = 1 << 30

// addSlope makes a node after another one, at the largest slope, for edges that are steeper.
func (g *web) addSlope(u uint32) uint32 {
	g.edges = append(g.edges, line{0, maxSlope, u})
	return g.endNode()
}

// forward computes the values of all nodes at x.
func (g *web) forward(x int64, values []int64) {
	edges, from := g.edges, uint32(0)
	for v, to := range g.first[1:] {
		t := int64(0)
		for _, e := range edges[from:to] {
			t = max(t, values[e.u]+e.c+int64(e.a)*x)
		}
		values[v] = t
		from = to
	}
}

// unreached is the length of the longest path between nodes that no path joins. It leaves room for
// a sum with any other length.
const unreached = -1 << 62

// backward computes the lengths of the longest paths from all nodes to the sink at x.
func (g *web) backward(x int64, values []int64) {
	fillUnreached(values)
	last := len(values) - 1
	values[last] = 0
	for v := last; v > 0; v-- {
		t := values[v]
		for _, e := range g.into(v) {
			values[e.u] = max(values[e.u], t+e.c+int64(e.a)*x)
		}
	}
}

// slopes returns the smallest and the largest number of units on the critical paths, given the values
// of all nodes at x. It goes backwards over the edges that determine their node; few nodes are met.
func (g *web) slopes(x int64, values []int64, m *walk) (left, right int64) {
	last := uint32(g.nodes() - 1)
	m.reset(int(last) + 1)
	m.meet(last, 0, 0)
	for w := int(last >> 6); w >= 0; w-- {
		for m.met[w] != 0 {
			v := uint32(w<<6 + bits.Len64(m.met[w]) - 1)
			m.met[w] &^= 1 << (v & 63)
			at := m.at[v]
			t := values[v]
			for _, e := range g.into(int(v)) {
				if values[e.u]+e.c+int64(e.a)*x == t {
					m.meet(e.u, at.min+int64(e.a), at.max+int64(e.a))
				}
			}
		}
	}
	return m.at[0].min, m.at[0].max
}

// walk is the memory of a walk over critical nodes.
type walk struct {
	met []uint64 // bit by node: it was met and not yet left
	at  []extent // of nodes that were met
}

// extent is the range of slopes between a node and the sink.
type extent struct{ min, max int64 }

func (m *walk) reset(nodes int) {
	if len(m.at) < nodes {
		m.at, m.met = make([]extent, nodes), make([]uint64, nodes/64+1)
	}
}

// meet notes a way from a node to the sink.
func (m *walk) meet(v uint32, least, most int64) {
	word, bit := &m.met[v>>6], uint64(1)<<(v&63)
	if *word&bit == 0 {
		*word |= bit
		m.at[v] = extent{least, most}
		return
	}
	at := &m.at[v]
	at.min, at.max = min(at.min, least), max(at.max, most)
}

// lanes is how many values of the variable are evaluated side by side.
const lanes = 4

// forwardWide is forward for several values of the variable.
func (g *web) forwardWide(x *[lanes]int64, values [][lanes]int64) {
	edges, from := g.edges, uint32(0)
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	for v, to := range g.first[1:] {
		t0, t1, t2, t3 := int64(0), int64(0), int64(0), int64(0)
		for _, e := range edges[from:to] {
			u, a := &values[e.u], int64(e.a)
			t0 = max(t0, u[0]+e.c+a*x0)
			t1 = max(t1, u[1]+e.c+a*x1)
			t2 = max(t2, u[2]+e.c+a*x2)
			t3 = max(t3, u[3]+e.c+a*x3)
		}
		values[v] = [lanes]int64{t0, t1, t2, t3}
		from = to
	}
}

// slopesWide is slopes for one of several values of the variable.
func (g *web) slopesWide(lane int, x int64, values [][lanes]int64, m *walk) (left, right int64) {
	last := uint32(g.nodes() - 1)
	m.reset(int(last) + 1)
	m.meet(last, 0, 0)
	for w := int(last >> 6); w >= 0; w-- {
		for m.met[w] != 0 {
			v := uint32(w<<6 + bits.Len64(m.met[w]) - 1)
			m.met[w] &^= 1 << (v & 63)
			at := m.at[v]
			t := values[v][lane&(lanes-1)]
			for _, e := range g.edges[g.first[v]:g.first[v+1]] {
				if values[e.u][lane&(lanes-1)]+e.c+int64(e.a)*x == t {
					m.meet(e.u, at.min+int64(e.a), at.max+int64(e.a))
				}
			}
		}
	}
	return m.at[0].min, m.at[0].max
}

// window is memory for the longest paths to the sink in a pass backwards. Edges reach not far in most
// graphs, so that only the nodes of a window must be known at any time.
type window struct {
	slots  [][lanes]int64 // by node, modulo their number, which is a power of 2
	toSink []line         // the edges into the sink, by descending node
}

var noWay = [lanes]int64{unreached, unreached, unreached, unreached}

// newWindow makes a window for a graph. Edges from the source and into the sink do not count.
func newWindow(g *web) *window {
	last := g.nodes() - 1
	w := &window{toSink: slices.Clone(g.into(last))}
	slices.SortFunc(w.toSink, func(a, b line) int { return cmp.Compare(b.u, a.u) })
	reach := 0
	for v := range last {
		for _, e := range g.into(v) {
			if e.u > 0 {
				reach = max(reach, v-int(e.u))
			}
		}
	}
	w.slots = slices.Repeat([][lanes]int64{noWay}, 1<<bits.Len(uint(reach)))
	return w
}

// gapsWide computes, for several values of the variable, how far the longest path through each node is
// below that to the sink, given the values of all nodes.
func (g *web) gapsWide(x *[lanes]int64, values [][lanes]int64, gaps *[lanes][]float32, w *window) {
	last := g.nodes() - 1
	top, toSink, slots := values[last], w.toSink, w.slots
	gap0, gap1, gap2, gap3 := gaps[0][:last+1], gaps[1][:last+1], gaps[2][:last+1], gaps[3][:last+1]
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	for v := last - 1; v > 0; v-- { // source and sink have no gap
		slot := &slots[v&(len(slots)-1)]
		t0, t1, t2, t3 := slot[0], slot[1], slot[2], slot[3]
		*slot = noWay
		for ; len(toSink) > 0 && int(toSink[0].u) == v; toSink = toSink[1:] {
			c, a := toSink[0].c, int64(toSink[0].a)
			t0, t1, t2, t3 = max(t0, c+a*x0), max(t1, c+a*x1), max(t2, c+a*x2), max(t3, c+a*x3)
		}
		at := &values[v]
		gap0[v], gap1[v] = float32(top[0]-at[0]-t0), float32(top[1]-at[1]-t1)
		gap2[v], gap3[v] = float32(top[2]-at[2]-t2), float32(top[3]-at[3]-t3)
		for _, e := range g.edges[g.first[v]:g.first[v+1]] {
			if e.u == 0 {
				continue
			}
			u, a := &slots[int(e.u)&(len(slots)-1)], int64(e.a)
			u[0] = max(u[0], t0+e.c+a*x0)
			u[1] = max(u[1], t1+e.c+a*x1)
			u[2] = max(u[2], t2+e.c+a*x2)
			u[3] = max(u[3], t3+e.c+a*x3)
		}
	}
}
