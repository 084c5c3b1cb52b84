package tolerance

// tables hold, for every node of an interval and every slope that matters there, the largest constant
// of a path from the source.
type tables struct {
	nodes     []tableOf
	constants []int64
	hull      []span
}

// tableOf is the table of a node: its slopes are low .. high. A path that is not above another one at
// the left end, and less steep, is not above it to the right either; so slopes below that of the
// longest path at the left end are not needed, nor above that of the longest path at the right end.
type tableOf struct {
	left, right int64 // values at the ends
	low, high   int64
	at          int64 // of the table in constants
}

// size finds out which slopes every node needs. It returns the number of constants, or false if that
// is more than a limit.
func (t *tables) size(i *interval, limit int64) (constants int64, ok bool) {
	x0, x1 := i.left.X, i.right.X
	t.nodes = append(t.nodes[:0], tableOf{})
	constants = 1
	for v := 1; v < i.nodes(); v++ {
		n := tableOf{left: unreached, right: unreached, at: constants}
		for _, e := range i.into(v) {
			u, a := &t.nodes[e.u], int64(e.a)
			if at := u.left + e.c + a*x0; at > n.left || at == n.left && u.low+a > n.low {
				n.left, n.low = at, u.low+a
			}
			if at := u.right + e.c + a*x1; at > n.right || at == n.right && u.high+a < n.high {
				n.right, n.high = at, u.high+a
			}
		}
		if constants += n.high - n.low + 1; constants > limit {
			return 0, false
		}
		t.nodes = append(t.nodes, n)
	}
	return constants, true
}

// fill computes all constants.
func (t *tables) fill(i *interval, constants int64) {
	if int64(cap(t.constants)) < constants {
		t.constants = make([]int64, constants+constants/4)
	}
	t.constants = t.constants[:constants]
	t.constants[0] = 0
	for v := 1; v < i.nodes(); v++ {
		n := &t.nodes[v]
		own := t.constants[n.at:][:n.high-n.low+1]
		for s := range own {
			own[s] = unreached
		}
		for _, e := range i.into(v) {
			u, a := &t.nodes[e.u], int64(e.a)
			// Slope s of u is slope s + a here.
			low, high := max(u.low+a, n.low), min(u.high+a, n.high)
			if low > high {
				continue
			}
			from := t.constants[u.at+low-a-u.low:][:high-low+1]
			to := own[low-n.low:][:len(from)]
			for s, c := range from {
				to[s] = max(to[s], c+e.c)
			}
		}
	}
}

// breakpoints appends the breakpoints strictly inside the interval, from the table of the sink.
func (t *tables) breakpoints(i *interval, found []Breakpoint) []Breakpoint {
	n := &t.nodes[i.nodes()-1]
	t.hull = t.hull[:0]
	for s, c := range t.constants[n.at:] {
		if a := n.low + int64(s); c >= 0 && a >= i.left.Right && a <= i.right.Left {
			t.hull = appendHull(t.hull, span{c, a})
		}
	}
	for k := 1; k < len(t.hull); k++ {
		l, r := t.hull[k-1], t.hull[k]
		found = append(found, Breakpoint{newFraction(0, l.c-r.c, r.a-l.a), l.a, r.a})
	}
	return found
}
