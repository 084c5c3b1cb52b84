package tolerance

import (
	"math"
	"math/bits"
)

// halves are tables that meet in the middle: from the source for the first half of the nodes, to the
// sink for the second half. Tables get longer with the distance from where they begin, so that
// this is less work than tables for all nodes, if few edges lead from one half to the other.
type halves struct {
	middle  int
	toSink  []tableOf // by node of the second half
	hulls   []span    // of the nodes where the halves meet, one after the other
	hullOf  map[uint32][2]int
	sums    []int64 // by slope, from that of T at the left end on: the largest constant
	crosses int     // edges between the halves
}

// halve divides the nodes and counts the edges between the halves.
func (h *halves) halve(i *interval) {
	h.middle, h.crosses = i.nodes()/2, 0
	for _, e := range i.edges[i.first[h.middle]:] {
		if int(e.u) < h.middle {
			h.crosses++
		}
	}
}

// measureHalves is measure for tables that meet in the middle.
func (t *tables) measureHalves(i *interval) (constants int64) {
	h := &t.halves
	constants = t.measure(i, h.middle) * t.step
	x0, x1 := i.left.X, i.right.X
	h.toSink = h.toSink[:0]
	for range i.nodes() - h.middle {
		h.toSink = append(h.toSink, unknown)
	}
	h.toSink[len(h.toSink)-1] = tableOf{}
	step := t.step
	if step == 1 && constants == int64(h.middle) {
		step = 0 // all tables have one place so far
	}
	for v := i.nodes() - 1; v >= h.middle; v-- {
		n := &h.toSink[v-h.middle]
		if n.left < 0 {
			continue // it does not lead to the sink
		}
		constants += n.high - n.low + 1
		for _, e := range i.into(v) {
			if int(e.u) < h.middle {
				t.nodes[e.u].last = math.MaxUint32 // it is needed when the halves meet
				continue
			}
			h.toSink[int(e.u)-h.middle].take(n, e, x0, x1)
		}
	}
	for v := h.middle; v < i.nodes() && step != 1; v++ {
		n := &h.toSink[v-h.middle]
		for _, e := range i.into(v) {
			if int(e.u) >= h.middle && n.left >= 0 {
				step = gcd(step, n.low+int64(e.a)-h.toSink[int(e.u)-h.middle].low)
			}
		}
	}
	t.step = max(step, 1)
	return constants / t.step
}

// breakpointsByHalves appends the breakpoints strictly inside the interval. Its halves have been
// measured.
func (t *tables) breakpointsByHalves(i *interval, found []Breakpoint) []Breakpoint {
	h := &t.halves
	t.fillAll(i)
	h.hulls, h.sums = h.hulls[:0], h.sums[:0]
	h.hullOf = map[uint32][2]int{}
	for range i.right.Left - i.left.Right + 1 {
		h.sums = append(h.sums, unreached)
	}
	for k := range h.toSink {
		h.toSink[k].size = 0 // no table yet
	}
	sink := &h.toSink[len(h.toSink)-1]
	t.allocate(sink)
	t.memory[sink.at] = 0
	for v := i.nodes() - 1; v >= h.middle; v-- {
		n := &h.toSink[v-h.middle]
		if n.size == 0 {
			continue
		}
		hull := [2]int{-1, -1}
		for _, e := range i.into(v) {
			if int(e.u) < h.middle {
				if hull[0] < 0 {
					hull = t.addHull(n)
				}
				t.meet(i, e, hull)
				continue
			}
			u := &h.toSink[int(e.u)-h.middle]
			isFirst := u.size == 0
			if isFirst {
				t.allocate(u)
			}
			t.fill(u, n, e, isFirst)
		}
		t.release(n)
	}
	t.hull = t.hull[:0]
	for s, c := range h.sums {
		if c >= 0 {
			t.hull = appendHull(t.hull, span{c, i.left.Right + int64(s)})
		}
	}
	return appendCrossings(found, t.hull)
}

// addHull adds the upper hull of a table to the hulls.
func (t *tables) addHull(n *tableOf) [2]int {
	h := &t.halves
	from := len(h.hulls)
	for s, c := range t.memory[n.at:][:n.size] {
		if c >= 0 {
			hull := appendHull(h.hulls[from:], span{c, n.low + int64(s)*t.step})
			h.hulls = append(h.hulls[:from], hull...)
		}
	}
	return [2]int{from, len(h.hulls)}
}

// meet takes the paths over an edge between the halves into the sums: the hull of its tail and that
// of its head, which is given, are added like functions, from one crossing to the next.
func (t *tables) meet(i *interval, e line, head [2]int) {
	h := &t.halves
	tail, ok := h.hullOf[e.u]
	if !ok {
		tail = t.addHull(&t.nodes[e.u])
		h.hullOf[e.u] = tail
	}
	a, b := h.hulls[tail[0]:tail[1]], h.hulls[head[0]:head[1]]
	for len(a) > 0 && len(b) > 0 {
		slope := a[0].a + b[0].a + int64(e.a) - i.left.Right
		if uint64(slope) < uint64(len(h.sums)) {
			h.sums[slope] = max(h.sums[slope], a[0].c+b[0].c+e.c)
		}
		switch {
		case len(b) == 1:
			a = a[1:]
		case len(a) == 1 || crossesLater(a[0], a[1], b[0], b[1]):
			b = b[1:]
		default:
			a = a[1:]
		}
	}
}

// appendHull adds a line, steeper than all others, to the upper hull of lines over values of at least
// 0. On a hull the lines get steeper and their constants smaller.
func appendHull(hull []span, l span) []span {
	n := len(hull)
	for n > 0 && hull[n-1].c <= l.c {
		n--
	}
	for n >= 2 && !crossesLater(hull[n-1], l, hull[n-2], hull[n-1]) {
		n--
	}
	return append(hull[:n], l)
}

// crossesLater reports whether lines a and b cross strictly after the place where c and d do. In each pair the
// second line is steeper and has a smaller constant.
func crossesLater(a, b, c, d span) bool {
	// (a.c - b.c)/(b.a - a.a) > (c.c - d.c)/(d.a - c.a)
	hi1, lo1 := bits.Mul64(uint64(a.c-b.c), uint64(d.a-c.a))
	hi2, lo2 := bits.Mul64(uint64(c.c-d.c), uint64(b.a-a.a))
	return hi1 > hi2 || hi1 == hi2 && lo1 > lo2
}

// appendCrossings appends the breakpoints of a hull.
func appendCrossings(found []Breakpoint, hull []span) []Breakpoint {
	for i := 1; i < len(hull); i++ {
		l, r := hull[i-1], hull[i]
		found = append(found, Breakpoint{newFraction(0, l.c-r.c, r.a-l.a), l.a, r.a})
	}
	return found
}
