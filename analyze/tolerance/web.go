package tolerance

import "math/bits"

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
	for v := range values {
		values[v] = unreached
	}
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
