package tolerance

// lapLines is the graph of T over a variable that one repetition adds, as small as can be: all nodes with their lines, the last of them the
// points that are known when the next one starts.
type lapLines struct {
	ends  []uint32 // by node: the end of its lines
	lines []lapLine
	reach int // lines lead back over fewer nodes than this
	most  int64
}

// lapLine is a line, with a calculation that differs from repetition to repetition.
type lapLine struct {
	c    int64
	a    int32
	back uint32 // over so many nodes; while the graph is made, the point from which it comes
	calc int32  // as lapWay has it
}

// lapRun are repetitions on a tape.
type lapRun struct {
	*lapLines
	laps  int
	calcs int     // calculations of a repetition
	times []int64 // of calculations, from the repetition before the first one on
	scale int64
}

// each calls visit for every node, of which the first one has a number, and returns the number after the last one.
func (l *lapRun) each(node uint32, visit func(node uint32, edges []line)) uint32 {
	var edges []line
	for lap := range l.laps {
		times, from := l.times[lap*l.calcs:], uint32(0)
		for _, to := range l.ends {
			edges = edges[:0]
			for _, e := range l.lines[from:to] {
				c := e.c
				if e.calc >= 0 {
					c += l.scale * times[e.calc]
				}
				edges = append(edges, line{c, e.a, node - e.back})
			}
			from = to
			visit(node, edges)
			node++
		}
	}
	return node
}

// forward computes the values of all nodes, of which the first one has a number, at several x. Constants of lines are shifted. It
// returns the number after the last one.
func (l *lapRun) forward(node uint32, xs *[2 * lanes]int64, shift int, values ring[[2 * lanes]int64]) uint32 {
	x0, x1, x2, x3, x4, x5, x6, x7 := xs[0], xs[1], xs[2], xs[3], xs[4], xs[5], xs[6], xs[7]
	for lap := range l.laps {
		times, from := l.times[lap*l.calcs:], uint32(0)
		for _, to := range l.ends {
			t0, t1, t2, t3, t4, t5, t6, t7 := int64(0), int64(0), int64(0), int64(0), int64(0), int64(0), int64(0), int64(0)
			for i := from; i < to; i++ {
				e := &l.lines[i]
				c, a := e.c, int64(e.a)
				if e.calc >= 0 {
					c += l.scale * times[e.calc]
				}
				c <<= shift
				u := values.at(node - e.back)
				t0, t1 = max(t0, u[0]+c+a*x0), max(t1, u[1]+c+a*x1)
				t2, t3 = max(t2, u[2]+c+a*x2), max(t3, u[3]+c+a*x3)
				t4, t5 = max(t4, u[4]+c+a*x4), max(t5, u[5]+c+a*x5)
				t6, t7 = max(t6, u[6]+c+a*x6), max(t7, u[7]+c+a*x7)
			}
			*values.at(node) = [2 * lanes]int64{t0, t1, t2, t3, t4, t5, t6, t7}
			from = to
			node++
		}
	}
	return node
}

// lineMaker makes a graph from the points of a repetition. It does what tapeMaker does, and more, since it sees all readers of a point.
type lineMaker struct {
	l      *lap
	lists  [][]lapLine // by point
	inline []bool      // by point: its lines go to those that wait for it
}

// lines returns the graph of a repetition; ok is false if lines are too steep for it.
func (l *lap) lines() (graph *lapLines, ok bool) {
	n := len(l.firsts) - 1
	m := &lineMaker{l: l, lists: make([][]lapLine, n), inline: make([]bool, n)}
	for round, changed := 0, true; changed && round < 8; round++ {
		for point := l.live; point < n; point++ {
			if !m.list(uint32(point)) {
				return nil, false
			}
		}
		changed = m.choose()
	}
	return m.graph(), true
}

// list finds the lines of a point; ok is false if one is too steep.
func (m *lineMaker) list(point uint32) (ok bool) {
	list := m.lists[point][:0]
	for i := m.l.firsts[point]; i < m.l.firsts[point+1]; i++ {
		w := &m.l.ways[i]
		span := m.l.edges[w.edge].line
		way := lapLine{span.c, int32(span.a), w.from, w.calc}
		before := m.lists[w.from]
		if span.a > maxSlope {
			return false
		}
		if len(before) != 1 && !m.inline[w.from] || !canJoin(before, way) {
			list = m.add(list, way)
			continue
		}
		for _, b := range before {
			if int64(b.a)+int64(way.a) > maxSlope {
				return false
			}
			list = m.add(list, lapLine{b.c + way.c, b.a + way.a, b.back, max(b.calc, way.calc)})
		}
	}
	m.lists[point] = list
	return true
}

// canJoin reports whether lines can be moved by another one: each has one calculation at most.
func canJoin(lines []lapLine, by lapLine) bool {
	for _, l := range lines {
		if l.calc >= 0 && by.calc >= 0 {
			return false
		}
	}
	return len(lines) > 0
}

// add adds a line, unless another one is nowhere below it.
func (m *lineMaker) add(list []lapLine, add lapLine) []lapLine {
	kept := list[:0]
	for i, l := range list {
		if i < maxCompared && m.above(&l, &add) {
			return list
		}
		if i >= maxCompared || !m.above(&add, &l) {
			kept = append(kept, l)
		}
	}
	return append(kept, add)
}

// above reports whether a line is nowhere below another one, whatever the times of calculations are: both come from one point, or the point
// of the other one is on the way to that of this one.
func (m *lineMaker) above(a, b *lapLine) bool {
	if a.back == b.back && a.c >= b.c && a.a >= b.a && (b.calc < 0 || b.calc == a.calc) {
		return true
	}
	for _, l := range m.lists[a.back] {
		if l.back == b.back && a.c+l.c >= b.c && a.a+l.a >= b.a && (b.calc < 0 || b.calc == a.calc || b.calc == l.calc) {
			return true
		}
	}
	return false
}

// choose finds the points whose lines go to the only one that waits for them, and reports whether there are others than before.
func (m *lineMaker) choose() (changed bool) {
	n := len(m.lists)
	readers := make([]uint32, n)
	needed := m.needed()
	for point := n - 1; point >= m.l.live; point-- {
		if needed[point] {
			for _, l := range m.lists[point] {
				readers[l.back]++
			}
		}
	}
	for point := m.l.live; point < n-m.l.live; point++ {
		if inline := readers[point] <= 1 && len(m.lists[point]) <= maxList; inline && !m.inline[point] {
			m.inline[point], changed = true, true
		}
	}
	return changed
}

// needed finds the points on which others depend.
func (m *lineMaker) needed() []bool {
	n := len(m.lists)
	needed := make([]bool, n)
	for point := n - 1; point >= m.l.live; point-- {
		if needed[point] = needed[point] || point >= n-m.l.live; needed[point] {
			for _, l := range m.lists[point] {
				needed[l.back] = true
			}
		}
	}
	return needed
}

// graph makes nodes of the points that are needed.
func (m *lineMaker) graph() *lapLines {
	g, needed := &lapLines{reach: m.l.live + 1}, m.needed()
	place := make([]int, len(m.lists))
	for point, list := range m.lists {
		if point < m.l.live {
			place[point] = point - m.l.live
			continue
		}
		if !needed[point] {
			continue
		}
		at := len(g.ends)
		place[point] = at
		for _, l := range list {
			l.back = uint32(at - place[l.back])
			g.reach, g.most = max(g.reach, int(l.back)+1), max(g.most, l.c)
			g.lines = append(g.lines, l)
		}
		g.ends = append(g.ends, uint32(len(g.lines)))
	}
	return g
}
