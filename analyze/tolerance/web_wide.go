package tolerance

import "math/bits"

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
					m.meet(e.u, at.least+int64(e.a), at.most+int64(e.a))
				}
			}
		}
	}
	return m.at[0].least, m.at[0].most
}

// gapsWide computes, for several values of the variable, how far the longest path through each node is
// below that to the sink, given the values of all nodes. The last argument is memory for the longest
// paths from all nodes to the sink.
func (g *web) gapsWide(x *[lanes]int64, values [][lanes]int64, gaps *[lanes][]float32, ways [][lanes]int64) {
	for v := range ways {
		ways[v] = [lanes]int64{unreached, unreached, unreached, unreached}
	}
	last := len(ways) - 1
	ways[last] = [lanes]int64{}
	top := values[last]
	gap0, gap1, gap2, gap3 := gaps[0][:last+1], gaps[1][:last+1], gaps[2][:last+1], gaps[3][:last+1]
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	for v := last; v >= 0; v-- {
		t0, t1, t2, t3 := ways[v][0], ways[v][1], ways[v][2], ways[v][3]
		at := &values[v]
		gap0[v], gap1[v] = float32(top[0]-at[0]-t0), float32(top[1]-at[1]-t1)
		gap2[v], gap3[v] = float32(top[2]-at[2]-t2), float32(top[3]-at[3]-t3)
		for _, e := range g.edges[g.first[v]:g.first[v+1]] {
			u, a := &ways[e.u], int64(e.a)
			u[0] = max(u[0], t0+e.c+a*x0)
			u[1] = max(u[1], t1+e.c+a*x1)
			u[2] = max(u[2], t2+e.c+a*x2)
			u[3] = max(u[3], t3+e.c+a*x3)
		}
	}
}
