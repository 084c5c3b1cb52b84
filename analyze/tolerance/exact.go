package tolerance

import (
	"math/bits"
)

// exact finds the breakpoints of an interval one by one, by evaluating its graph where two lines
// cross: if no other line is above them there, that is a breakpoint, else there are lines between
// them. The values there are fractions, which are kept in 128 bits multiplied by their denominator.
type exact struct {
	nodes []exactOf
}

// exactOf is the value of a node, multiplied by a denominator, and the smallest and largest slope of
// the longest paths to it.
type exactOf struct {
	value    int128
	min, max int64
}

// breakpoints appends the breakpoints strictly inside the interval.
func (x *exact) breakpoints(i *interval, found []Breakpoint) []Breakpoint {
	left := span{i.left.T - i.left.Right*i.left.X, i.left.Right}
	right := span{i.right.T - i.right.Left*i.right.X, i.right.Left}
	return x.between(&i.web, left, right, found)
}

// between appends the breakpoints between two lines of T, the left one first.
func (x *exact) between(g *web, left, right span, found []Breakpoint) []Breakpoint {
	if left.a == right.a {
		return found
	}
	num, den := left.c-right.c, right.a-left.a
	top := x.evaluate(g, num, den)
	if top.value == scaled(left, num, den) {
		return append(found, Breakpoint{newFraction(0, num, den), left.a, right.a})
	}
	found = x.between(g, left, top.line(top.min, num, den), found)
	if top.min != top.max {
		found = append(found, Breakpoint{newFraction(0, num, den), top.min, top.max})
	}
	return x.between(g, top.line(top.max, num, den), right, found)
}

// evaluate returns the value of the sink at num/den.
func (x *exact) evaluate(g *web, num, den int64) exactOf {
	x.nodes = append(x.nodes[:0], exactOf{})
	for v := 1; v < g.nodes(); v++ {
		n := exactOf{value: int128{hi: -1}}
		for _, e := range g.into(v) {
			u, a := &x.nodes[e.u], int64(e.a)
			at := u.value.plus(scaled(span{e.c, a}, num, den))
			switch {
			case n.value.less(at):
				n = exactOf{at, u.min + a, u.max + a}
			case n.value == at:
				n.min, n.max = min(n.min, u.min+a), max(n.max, u.max+a)
			}
		}
		x.nodes = append(x.nodes, n)
	}
	return x.nodes[len(x.nodes)-1]
}

// line returns the line of a given slope through the value at num/den.
func (n *exactOf) line(slope, num, den int64) span {
	hi, lo := bits.Mul64(uint64(slope), uint64(num))
	c, borrow := bits.Sub64(n.value.lo, lo, 0)
	rest := uint64(n.value.hi) - hi - borrow
	quotient, _ := bits.Div64(rest, c, uint64(den)) // without remainder: constants are whole
	return span{int64(quotient), slope}
}

// scaled returns the value of a line at num/den, multiplied by den.
func scaled(l span, num, den int64) int128 {
	hi1, lo1 := bits.Mul64(uint64(l.c), uint64(den))
	hi2, lo2 := bits.Mul64(uint64(l.a), uint64(num))
	lo, carry := bits.Add64(lo1, lo2, 0)
	return int128{int64(hi1 + hi2 + carry), lo}
}

// int128 is hi * 2^64 + lo.
type int128 struct {
	hi int64
	lo uint64
}

func (a int128) plus(b int128) int128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return int128{a.hi + b.hi + int64(carry), lo}
}

func (a int128) less(b int128) bool {
	return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo
}
