package tolerance

import "math/bits"

// appendHull adds a line, steeper than all others, to the upper hull of lines over values of at least
// 0. On a hull the lines get steeper and their constants smaller.
func appendHull(hull []span, l span) []span {
	n := len(hull)
	for n > 0 && hull[n-1].c <= l.c {
		n--
	}
	for n >= 2 && !crossesAfter(hull[n-2], hull[n-1], l) {
		n--
	}
	return append(hull[:n], l)
}

// crossesAfter reports whether line c crosses line b strictly after the place where b crosses a.
func crossesAfter(a, b, c span) bool { return crossesLater(b, c, a, b) }

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
