package tolerance

import "math/bits"

// appendHull adds a line, steeper than all others, to the upper hull of lines over values of at least
// 0. On a hull the lines get steeper and their constants smaller.
func appendHull(hull []span, l span) []span {
	n := len(hull)
	for n > 0 && hull[n-1].c <= l.c {
		n--
	}
	for n >= 2 && !crossesBehind(hull[n-2], hull[n-1], l) {
		n--
	}
	return append(hull[:n], l)
}

// crossesBehind reports whether line c crosses line b strictly behind where b crosses a.
func crossesBehind(a, b, c span) bool {
	// (b.c - c.c)/(c.a - b.a) > (a.c - b.c)/(b.a - a.a)
	hi1, lo1 := bits.Mul64(uint64(b.c-c.c), uint64(b.a-a.a))
	hi2, lo2 := bits.Mul64(uint64(a.c-b.c), uint64(c.a-b.a))
	return hi1 > hi2 || hi1 == hi2 && lo1 > lo2
}
