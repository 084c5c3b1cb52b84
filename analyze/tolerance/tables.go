package tolerance

import "math/bits"

// tables find the lines of T in an interval: for its nodes and the slopes that matter there, the largest
// constant of a path from the source. The table of a node is kept until the last node that it leads
// to has its own; then its memory is used again.
type tables struct {
	nodes  []tableOf
	step   int64 // all slopes of a node differ by multiples of this
	memory []int64
	free   [64][]int // by binary logarithm of the size: pieces of memory that are not in use
	hull   []span
	halves halves
}

// tableOf is the table of a node: its slopes are low, low + step, .. high. A path that is not above
// another one at the left end, and less steep, is not above it to the right either; so slopes below
// that of the longest path at the left end are not needed, nor above that of the longest path at the
// right end.
type tableOf struct {
	left, right int64 // values at the ends
	low, high   int64
	at, size    int    // in memory
	last        uint32 // the last node that it leads to
}

// unknown is a table of which nothing is known yet.
var unknown = tableOf{left: unreached, right: unreached}

// take notes a path that goes on from another table by an edge.
func (n *tableOf) take(u *tableOf, e line, x0, x1 int64) {
	a := int64(e.a)
	if at := u.left + e.c + a*x0; at > n.left || at == n.left && u.low+a > n.low {
		n.left, n.low = at, u.low+a
	}
	if at := u.right + e.c + a*x1; at > n.right || at == n.right && u.high+a < n.high {
		n.right, n.high = at, u.high+a
	}
}

// measure finds out which slopes the first nodes need, and returns the number of constants.
func (t *tables) measure(i *interval, nodes int) (constants int64) {
	x0, x1 := i.left.X, i.right.X
	t.nodes = append(t.nodes[:0], tableOf{})
	t.step = 0
	for v := 1; v < nodes; v++ {
		n := unknown
		edges := i.into(v)
		for _, e := range edges {
			u := &t.nodes[e.u]
			u.last = uint32(v)
			n.take(u, e, x0, x1)
		}
		if t.step != 1 { // it rarely is more
			for _, e := range edges {
				t.step = gcd(t.step, t.nodes[e.u].low+int64(e.a)-n.low)
			}
		}
		t.nodes = append(t.nodes, n)
		constants += n.high - n.low + 1
	}
	t.step = max(t.step, 1)
	return constants / t.step
}

// breakpoints appends the breakpoints strictly inside the interval. All nodes have been measured.
func (t *tables) breakpoints(i *interval, found []Breakpoint) []Breakpoint {
	t.fillAll(i)
	n := &t.nodes[i.nodes()-1]
	t.hull = t.hull[:0]
	for s, c := range t.memory[n.at:][:n.size] {
		if a := n.low + int64(s)*t.step; c >= 0 && a >= i.left.Right && a <= i.right.Left {
			t.hull = appendHull(t.hull, span{c, a})
		}
	}
	return appendCrossings(found, t.hull)
}

// fillAll computes the tables of all nodes that have been measured. In the end those are left that lead
// to no other one.
func (t *tables) fillAll(i *interval) {
	t.memory = append(t.memory[:0], 0)
	for k := range t.free {
		t.free[k] = t.free[k][:0]
	}
	t.nodes[0].size, t.nodes[0].last = 1, 0 // the source is kept
	for v := 1; v < len(t.nodes); v++ {
		edges := i.into(v)
		n := &t.nodes[v]
		t.allocate(n)
		for k, e := range edges {
			t.fill(n, &t.nodes[e.u], e, k == 0)
		}
		for _, e := range edges {
			if u := &t.nodes[e.u]; u.last == uint32(v) {
				t.release(u)
				u.last = 0
			}
		}
	}
}

// allocate finds room for the table of a node.
func (t *tables) allocate(n *tableOf) {
	n.size = 1
	if n.high > n.low {
		n.size = int((n.high-n.low)/t.step) + 1
	}
	class := bits.Len(uint(n.size - 1))
	if free := t.free[class]; len(free) > 0 {
		n.at = free[len(free)-1]
		t.free[class] = free[:len(free)-1]
		return
	}
	n.at = len(t.memory)
	end := n.at + 1<<class
	if end > cap(t.memory) {
		larger := make([]int64, n.at, max(2*end, 1<<12))
		copy(larger, t.memory)
		t.memory = larger
	}
	t.memory = t.memory[:end]
}

// release gives up the table of a node.
func (t *tables) release(n *tableOf) {
	class := bits.Len(uint(n.size - 1))
	t.free[class] = append(t.free[class], n.at)
}

// fill takes the constants of a table into that of another node to which an edge leads. The first edge
// finds the table without content.
func (t *tables) fill(n, u *tableOf, e line, isFirst bool) {
	// Place s in the table of u is place s + shift in that of n.
	shift := u.low + int64(e.a) - n.low
	if t.step > 1 {
		shift /= t.step
	}
	low, high := max(shift, 0), min(shift+int64(u.size), int64(n.size))
	if low >= high {
		low, high, shift = 0, 0, 0
	}
	from := t.memory[u.at+int(low-shift):][:high-low]
	own := t.memory[n.at:][:n.size]
	to := own[low:][:len(from)]
	if !isFirst {
		for s, c := range from {
			to[s] = max(to[s], c+e.c)
		}
		return
	}
	for s, c := range from {
		to[s] = c + e.c
	}
	fillUnreached(own[:low])
	fillUnreached(own[high:])
}

func fillUnreached(list []int64) {
	for i := range list {
		list[i] = unreached
	}
}
