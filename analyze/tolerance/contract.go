package tolerance

import (
	"errors"
	"math"
	"slices"

	"slackline/model/schedule"
)

// Build makes the graph of T over a variable. It fails with a *schedule.CycleError if operations wait for each
// other.
func (s *Schedule) Build(n Network, v Variable) (*Graph, error) {
	c, err := newCoster(s, n)
	if err != nil {
		return nil, err
	}
	order, err := c.order()
	if err != nil {
		return nil, err
	}
	return s.contract(c, order, v)
}

// Graph makes the graph of T over a variable on the same network.
func (e *Evaluation) Graph(v Variable) (*Graph, error) {
	c, err := newCoster(e.s, e.n)
	if err != nil {
		return nil, err
	}
	return e.s.contract(c, e.order, v)
}

// value is when a point happens: value of a node + c + a*x; or, if the node is negative, a list of
// such lines that waits for its only reader, all of them shifted by c + a*x.
type value struct {
	c    int64
	a    int32
	node int32
}

// source is the value of points that wait for nothing.
var source = value{}

// contraction makes a graph from the points of a schedule in order. All of it is exact:
//
//   - what waits for one thing only is not a node of its own but a line over that one;
//   - what only one other point waits for is not a node either: its lines go to that one, shifted;
//   - of two lines from one node that which is nowhere above the other is dropped;
//   - ends that nothing waits for lead to the sink; all others are no later than one of these.
type contraction struct {
	s        *Schedule
	axis     *axis
	costs    *coster
	protocol *protocol
	fans     []uint8

	web

	pool       valuePool
	start, end []uint32 // by operation: the name in the pool, if something reads it
	block      []value  // by block
	isKnown    []bool   // by block
	sinks      []value
	hasGap     []uint64 // bit by operation: another send waits for its gap

	lists    linePool
	lines    []line   // into the present point
	seen     []uint32 // by node: where in lines its first line is, if it is
	overflow int64    // negative if a sum did not fit
	steep    int      // nodes that were added for steep lines
}

func (s *Schedule) contract(c *coster, order *order, v Variable) (*Graph, error) {
	axis, err := newAxis(c, v)
	if err != nil {
		return nil, err
	}
	b := &contraction{
		s: s, axis: axis, costs: c, protocol: &order.protocol, fans: s.fans(),
		web:   web{first: make([]uint32, 2, len(s.ops)/4+2), edges: make([]line, 0, len(s.ops)*5/8)},
		seen:  make([]uint32, 1, len(s.ops)/4+1),
		start: make([]uint32, len(s.ops)), end: make([]uint32, len(s.ops)),
	}
	if s.blocks != nil {
		b.block, b.isKnown = make([]value, len(s.blocks.before)), make([]bool, len(s.blocks.before))
	}
	b.findGapReaders()
	for _, p := range order.points {
		if p.isEnd() {
			b.finish(p.op())
		} else {
			b.begin(p.op())
		}
	}
	for _, v := range append(b.sinks, source) { // the source is for schedules without operations
		b.add(v, span{})
	}
	b.newNode()
	if c.err != nil {
		return nil, c.err
	}
	if b.overflow < 0 {
		return nil, ErrOverflow
	}
	b.start, b.end, b.pool = nil, nil, valuePool{}
	g := &Graph{web: web{slices.Clone(b.first), slices.Clone(b.edges)}, axis: *axis} // of their real size
	g.axis.costs = nil
	return g, g.measure()
}

func (b *contraction) findGapReaders() {
	if b.protocol.gapBefore == nil {
		return
	}
	b.hasGap = make([]uint64, len(b.s.ops)/64+1)
	for _, before := range b.protocol.gapBefore {
		if before != noOp {
			b.hasGap[before>>6] |= 1 << (before & 63)
		}
	}
}

// startReaders counts what waits for the start of an operation beside its own end.
func (b *contraction) startReaders(op uint32) int {
	n := int(b.fans[op] & 15)
	if b.hasGap != nil {
		n += int(b.hasGap[op>>6] >> (op & 63) & 1)
	}
	return n
}

// endReaders counts what waits for the end of an operation; isLast reports that nothing does but the
// sink.
func (b *contraction) endReaders(op uint32) (n int, isLast bool) {
	n = int(b.fans[op] >> 4)
	if b.s.ops[op].Kind == schedule.Send {
		n++
	}
	if b.s.blocks != nil && b.s.endsBlock(op) && b.s.hasBlockAfter(op) {
		n++
	}
	return max(n, 1), n == 0
}

// begin computes the start of an operation, and its end if that follows.
func (b *contraction) begin(op uint32) {
	s := b.s
	preds := s.preds[s.predFirst[op]:s.predFirst[op+1]]
	for _, p := range preds {
		name := b.start[p.op()]
		if p.isEnd() {
			name = b.end[p.op()]
		}
		b.add(b.pool.read(name), span{})
	}
	if before, ok := b.protocol.gap(op); ok {
		m := b.costs.of(before)
		b.add(b.pool.read(b.start[before]), b.axis.part(m.gap).plus(b.axis.data(m)))
	}
	if len(preds) == 0 && s.blocks != nil {
		if block, ok := s.previous(op); ok {
			b.add(b.blockEnd(block), span{})
		}
	}
	readers := b.startReaders(op)
	var duration span
	switch o := &s.ops[op]; {
	case o.Kind == schedule.Recv || b.protocol.isRendezvous(op):
		b.start[op] = b.pool.keep(b.take(readers+1), readers+1)
		return
	case o.Kind == schedule.Send:
		duration = b.axis.overhead(b.costs.of(op))
	default:
		duration = b.axis.calc(o.Size)
	}
	ends, isLast := b.endReaders(op)
	v := b.take(readers + ends)
	if readers > 0 {
		b.start[op] = b.pool.keep(v, readers)
	}
	b.setEnd(op, b.shift(v, duration), ends, isLast)
}

// finish computes the end of a receive or of a rendezvous send.
func (b *contraction) finish(op uint32) {
	other := b.s.partner[op]
	x := b.axis
	if b.s.ops[op].Kind == schedule.Send {
		m := b.costs.of(op)
		o, latency := x.overhead(m), x.latency(m)
		granted := o.times(2).plus(latency).plus(x.data(m))
		b.add(b.pool.read(b.start[op]), granted.plus(o).plus(latency))
		b.add(b.pool.read(b.start[other]), granted)
	} else {
		m := b.costs.of(other)
		o := x.overhead(m)
		carried := o.plus(x.latency(m))
		if !m.rendezvous { // the receive of a rendezvous was posted before its send ended
			carried = carried.plus(x.data(m))
			b.add(b.pool.read(b.start[op]), o)
		}
		b.add(b.pool.read(b.end[other]), carried)
	}
	readers, isLast := b.endReaders(op)
	b.setEnd(op, b.take(readers), readers, isLast)
}

func (b *contraction) setEnd(op uint32, v value, readers int, isLast bool) {
	if isLast {
		b.sinks = append(b.sinks, v)
	} else {
		b.end[op] = b.pool.keep(v, readers)
	}
}

// blockEnd computes the end of a block.
func (b *contraction) blockEnd(block uint32) value {
	if b.isKnown[block] {
		return b.block[block]
	}
	held := b.lines // the gap into the present point, if any
	b.lines = nil
	from, to := b.s.graph.BlockOps(int(block))
	for op := uint32(from); op < uint32(to); op++ {
		if b.s.endsBlock(op) {
			b.add(b.pool.read(b.end[op]), span{})
		}
	}
	b.block[block], b.isKnown[block] = b.take(math.MaxInt32), true
	b.lines = held
	return b.block[block]
}

// add adds a way to the present point.
func (b *contraction) add(v value, s span) {
	c, a := v.c+s.c, int64(v.a)+s.a
	if v.node >= 0 {
		b.overflow |= c
		b.addLine(uint32(v.node), c, a)
		return
	}
	for _, l := range b.lists.release(v.node) {
		sum := l.c + c
		b.overflow |= sum
		b.addLine(l.u, sum, int64(l.a)+a)
	}
}

// addLine adds a line to the present point, unless there is one from the same node that is nowhere
// below it.
func (b *contraction) addLine(u uint32, c, a int64) {
	for ; a > maxSlope; a -= maxSlope {
		if b.steep++; b.steep > manySteep+2*len(b.s.ops) {
			b.costs.fail(errSteep)
			a = maxSlope
			break
		}
		u = b.addSlope(u)
		b.seen = append(b.seen, 0)
	}
	n := uint32(len(b.lines))
	if at := b.seen[u]; at < n && b.lines[at].u == u {
		for i := at; i < min(n, at+maxCompared); i++ {
			l := &b.lines[i]
			switch {
			case l.u != u:
			case l.c >= c && int64(l.a) >= a:
				return
			case l.c <= c && int64(l.a) <= a:
				l.c, l.a = c, int32(a)
				return
			}
		}
	} else {
		b.seen[u] = n
	}
	b.lines = append(b.lines, line{c, int32(a), u})
}

// errSteep is returned if lines are so steep that more nodes than operations would be needed for them.
var errSteep = errors.New("messages of this schedule are too large for a curve over G; are their sizes in bytes?")

// manySteep is how many additional nodes steep lines may always have.
const manySteep = 1 << 12

// maxCompared bounds how many lines addLine looks at; points with very many of them, such as the sink,
// then keep a few that could be dropped.
const maxCompared = 8

// shift returns a value that is later by a span.
func (b *contraction) shift(v value, s span) value {
	a := int64(v.a) + s.a
	if a > maxSlope {
		b.add(v, s)
		return b.take(math.MaxInt32)
	}
	c := v.c + s.c
	b.overflow |= c
	return value{c, int32(a), v.node}
}

// take ends the present point, which has so many readers, and begins another one.
func (b *contraction) take(readers int) value {
	n := len(b.lines)
	switch {
	case n == 0:
		return source
	case n == 1:
		l := b.lines[0]
		b.lines = b.lines[:0]
		return value{l.c, l.a, int32(l.u)}
	case readers == 1 && n <= maxList:
		v := value{node: b.lists.keep(b.lines)}
		b.lines = b.lines[:0]
		return v
	}
	return value{node: int32(b.newNode())}
}

// newNode makes a node of the present point.
func (b *contraction) newNode() uint32 {
	b.edges = append(b.edges, b.lines...)
	b.lines = b.lines[:0]
	b.seen = append(b.seen, 0)
	return b.endNode()
}
