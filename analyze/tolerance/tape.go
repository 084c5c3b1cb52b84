package tolerance

import (
	"encoding/binary"
	"math"
	"slices"
)

// tape is a graph in a few bytes per edge, to be read from its start to its end: the nodes in order, each with its edges. Node 0 is the
// source; the sink is not on the tape. Programs repeat themselves, so that most edges name a line that was there before.
type tape struct {
	parts  []tapePart
	known  []span          // lines that edges name by their number
	number map[span]uint32 // of these, while it is written
	recent [64]uint32      // numbers of lines that were looked for
	nodes  int             // with the source
	edges  int
	reach  int    // edges lead back over fewer nodes than this, but for those from the source
	sinks  []line // edges into the sink, ascending by node; at least one
}

// tapePart is a part of a tape: bytes, or repetitions.
type tapePart struct {
	bytes []byte
	laps  *lapRun
}

const (
	chunkSize = 1 << 20
	maxKnown  = 1 << 14 // lines with a number
	// maxEdgeBytes bounds what an edge takes.
	maxEdgeBytes = 3*binary.MaxVarintLen64 + binary.MaxVarintLen32
)

func newTape() *tape { return &tape{nodes: 1, number: map[span]uint32{}, reach: 1} }

// add appends a node with its edges, and returns its number.
func (t *tape) add(edges []line) uint32 {
	node := uint32(t.nodes)
	room := (len(edges) + 1) * maxEdgeBytes
	last := len(t.parts) - 1
	if last < 0 || cap(t.parts[last].bytes)-len(t.parts[last].bytes) < room {
		t.parts = append(t.parts, tapePart{bytes: make([]byte, 0, max(room, min(chunkSize, 1024+4*t.edges)))})
		last++
	}
	b := binary.AppendUvarint(t.parts[last].bytes, uint64(len(edges)))
	for _, e := range edges {
		back := uint64(0) // the source
		if e.u != 0 {
			back = uint64(node - e.u)
			t.reach = max(t.reach, int(back)+1)
		}
		b = binary.AppendUvarint(b, back)
		b = t.appendLine(b, span{e.c, int64(e.a)})
	}
	t.parts[last].bytes = b
	t.nodes++
	t.edges += len(edges)
	return node
}

// addLaps appends repetitions.
func (t *tape) addLaps(run *lapRun) {
	t.parts = append(t.parts, tapePart{laps: run})
	t.nodes += run.laps * len(run.ends)
	t.edges += run.laps * len(run.lines)
	t.reach = max(t.reach, run.reach)
}

// appendLine appends the number of a line, or 0 and the line.
func (t *tape) appendLine(b []byte, s span) []byte {
	recent := &t.recent[(uint64(s.c)*0x9E3779B97F4A7C15+uint64(s.a)*0xBF58476D1CE4E5B9)>>58]
	if *recent == 0 || t.known[*recent-1] != s {
		*recent = t.numberOf(s)
	}
	n := *recent
	b = binary.AppendUvarint(b, uint64(n))
	if n == 0 {
		b = binary.AppendUvarint(b, uint64(s.c))
		b = binary.AppendUvarint(b, uint64(s.a))
	}
	return b
}

// numberOf returns the number of a line, or 0 if there are too many.
func (t *tape) numberOf(s span) uint32 {
	n, ok := t.number[s]
	if !ok && len(t.known) < maxKnown {
		t.known = append(t.known, s)
		n = uint32(len(t.known))
		t.number[s] = n
	}
	return n
}

// end ends the tape with the edges into the sink.
func (t *tape) end(sinks []line) {
	slices.SortFunc(sinks, func(a, b line) int { return int(int64(a.u) - int64(b.u)) })
	t.sinks, t.number = sinks, nil
}

// each calls visit for every node after the source, with the edges into it, which are valid until the next one.
func (t *tape) each(visit func(node uint32, edges []line)) {
	node := uint32(1)
	for _, part := range t.parts {
		if part.laps != nil {
			node = part.laps.each(node, visit)
		} else {
			node = t.eachOf(part.bytes, node, visit)
		}
	}
}

// eachOf is each for a part of the tape, whose first node has a number. It returns the number after the last one.
func (t *tape) eachOf(b []byte, node uint32, visit func(node uint32, edges []line)) uint32 {
	var edges []line
	for len(b) > 0 {
		var n uint64
		n, b = uvarint(b)
		edges = edges[:0]
		for range n {
			var back, number uint64
			back, b = uvarint(b)
			number, b = uvarint(b)
			e := line{}
			if back != 0 {
				e.u = node - uint32(back)
			}
			if number != 0 {
				s := t.known[number-1]
				e.c, e.a = s.c, int32(s.a)
			} else {
				var c, a uint64
				c, b = uvarint(b)
				a, b = uvarint(b)
				e.c, e.a = int64(c), int32(a)
			}
			edges = append(edges, e)
		}
		visit(node, edges)
		node++
	}
	return node
}

// uvarint reads a number from the tape, which was written by this process.
func uvarint(b []byte) (uint64, []byte) {
	if b[0] < 0x80 {
		return uint64(b[0]), b[1:]
	}
	if b[1] < 0x80 {
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, b[2:]
	}
	v, n := binary.Uvarint(b)
	return v, b[n:]
}

// web returns the graph with all edges in memory at once.
func (t *tape) web() web {
	w := web{first: make([]uint32, 2, t.nodes+2), edges: make([]line, 0, t.edges+len(t.sinks))}
	t.each(func(_ uint32, edges []line) {
		w.edges = append(w.edges, edges...)
		w.endNode()
	})
	w.edges = append(w.edges, t.sinks...)
	w.endNode()
	return w
}

// ring holds something for each of the last nodes, as far as edges lead back.
type ring[T any] struct {
	list []T
	mask uint32
}

func newRing[T any](t *tape) ring[T] {
	size := 2
	for size < t.reach {
		size *= 2
	}
	return ring[T]{make([]T, size), uint32(size - 1)}
}

func (r *ring[T]) at(node uint32) *T { return &r.list[node&r.mask] }

// sinksAt calls visit for the edges from a node into the sink, which follow the given number of others, and returns how many are done.
func (t *tape) sinksAt(node uint32, done int, visit func(line)) int {
	for done < len(t.sinks) && t.sinks[done].u == node {
		visit(t.sinks[done])
		done++
	}
	return done
}

// height is the value of a node at some x, with the smallest and the largest slope of the paths that determine it.
type height struct{ t, left, right int64 }

// join takes a way to the node.
func (h *height) join(from *height, e *line, x int64) {
	t := from.t + e.c + int64(e.a)*x
	if t < h.t {
		return
	}
	left, right := from.left+int64(e.a), from.right+int64(e.a)
	if t > h.t {
		*h = height{t, left, right}
		return
	}
	h.left, h.right = min(h.left, left), max(h.right, right)
}

var noHeight = height{t: -1}

// fold carries values along the edges of a tape: from that of the source over all nodes, each of which begins with none, to the sink.
func fold[T any](t *tape, source, none T, join func(to, from *T, e *line)) (top T) {
	top = none
	values := newRing[T](t)
	sinks := t.sinksAt(0, 0, func(l line) { join(&top, &source, &l) })
	t.each(func(node uint32, edges []line) {
		at := none
		for k := range edges {
			from := &source
			if u := edges[k].u; u != 0 {
				from = values.at(u)
			}
			join(&at, from, &edges[k])
		}
		*values.at(node) = at
		sinks = t.sinksAt(node, sinks, func(l line) { join(&top, &at, &l) })
	})
	return top
}

// heights computes T with its slopes at several x in one pass.
func (t *tape) heights(xs []int64) []height {
	if len(xs) == 1 {
		return []height{fold(t, height{}, noHeight, func(to, from *height, e *line) { to.join(from, e, xs[0]) })}
	}
	none := [lanes]height{noHeight, noHeight, noHeight, noHeight}
	top := fold(t, [lanes]height{}, none, func(to, from *[lanes]height, e *line) {
		for i, x := range xs {
			to[i].join(&from[i], e, x)
		}
	})
	return top[:len(xs)]
}

// forward computes T at several x in one pass. Constants of lines are shifted.
func (t *tape) forward(xs *[2 * lanes]int64, shift int) (top [2 * lanes]int64) {
	values := newRing[[2 * lanes]int64](t)
	var source [2 * lanes]int64
	join := func(to, from *[2 * lanes]int64, e *line) {
		c, a := e.c<<shift, int64(e.a)
		for i := range to {
			to[i] = max(to[i], from[i]+c+a*xs[i])
		}
	}
	done, node := t.sinksAt(0, 0, func(l line) { join(&top, &source, &l) }), uint32(1)
	visit := func(node uint32, edges []line) {
		to := values.at(node)
		*to = [2 * lanes]int64{}
		for k := range edges {
			from := &source
			if u := edges[k].u; u != 0 {
				from = values.at(u)
			}
			join(to, from, &edges[k])
		}
		done = t.sinksAt(node, done, func(l line) { join(&top, to, &l) })
	}
	for _, part := range t.parts {
		if part.laps == nil {
			node = t.eachOf(part.bytes, node, visit)
			continue
		}
		// Only the last nodes of repetitions lead to the sink.
		for node = part.laps.forward(node, xs, shift, values); done < len(t.sinks) && t.sinks[done].u < node; done++ {
			join(&top, values.at(t.sinks[done].u), &t.sinks[done])
		}
	}
	return top
}

// steepest returns T at 0, and of the paths with the largest slope of all that slope and the largest constant; ok is false if a number
// does not fit.
func (t *tape) steepest() (constant, slope, steepest int64, ok bool) {
	type values struct{ c, slope, steepest int64 }
	overflow := int64(0)
	top := fold(t, values{}, values{}, func(to, from *values, e *line) {
		c, a, s := from.c+e.c, from.slope+int64(e.a), from.steepest+e.c
		overflow |= c | a | s
		to.c = max(to.c, c)
		if a > to.slope || a == to.slope && s > to.steepest {
			to.slope, to.steepest = a, s
		}
	})
	return top.c, top.slope, top.steepest, overflow >= 0
}

// roughly returns T at x in floating point.
func (t *tape) roughly(x float64) float64 {
	return fold(t, 0, 0, func(to, from *float64, e *line) { *to = max(*to, *from+float64(e.c)+float64(e.a)*x) })
}

// fits reports whether nodes can still be numbered.
func (t *tape) fits() bool { return t.nodes < math.MaxUint32-1 }
