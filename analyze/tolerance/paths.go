package tolerance

import "math/bits"

// paths are the critical paths of an evaluation: the points that lie on one, in order, with the best
// ways to each of them.
type paths struct {
	lambda  Lambda
	on      []uint64 // bit by point: it is on a critical path
	before  []uint32 // by word of on: how many bits are set before it
	at      []arrival
	through []arrival // by block: of its end, if that is on a critical path
	last    point     // where the canonical path ends
}

// arrival are the critical paths to a point.
type arrival struct {
	canonical lengths // of the canonical path
	most      lengths // the largest numbers, each by itself
	minL      int64
	tail      point // the point before on the canonical path
	way       way   // how it gets from there
	known     bool  // there is one; a first point has no tail
	first     bool
}

// lengths count what paths have besides time.
type lengths struct{ units, size, overheads int64 }

// less compares lexicographically.
func (a *lengths) less(b *lengths) bool {
	if a.units != b.units {
		return a.units < b.units
	}
	if a.size != b.size {
		return a.size < b.size
	}
	return a.overheads < b.overheads
}

func (p *paths) isOn(q point) bool { return p.on[q>>6]>>(q&63)&1 != 0 }
func (p *paths) put(q point)       { p.on[q>>6] |= 1 << (q & 63) }

// of returns what is known of a point that is on a critical path.
func (p *paths) of(q point) *arrival {
	below := p.on[q>>6] & (1<<(q&63) - 1)
	return &p.at[int(p.before[q>>6])+bits.OnesCount64(below)]
}

// time returns when a point happens.
func (t *times) of(p point) int64 {
	if p.isEnd() {
		return t.end[p.op()]
	}
	return t.start[p.op()]
}

// findPaths marks all points on critical paths, from the last ends backwards, and then collects the
// best ways to them, forwards.
func (e *Evaluation) findPaths() (*paths, error) {
	costs, err := newCoster(e.s, e.n)
	if err != nil {
		return nil, err
	}
	costs.gaps = &e.order.protocol
	p := &paths{on: make([]uint64, len(e.s.ops)/32+1)}
	if e.s.blocks != nil {
		p.through = make([]arrival, len(e.s.blocks.before))
	}
	e.mark(p, costs)
	p.before = make([]uint32, len(p.on))
	n := 0
	for i, word := range p.on {
		p.before[i] = uint32(n)
		n += bits.OnesCount64(word)
	}
	p.at = make([]arrival, n)
	e.collect(p, costs)
	return p, nil
}

// mark marks the points on critical paths.
func (e *Evaluation) mark(p *paths, costs *coster) {
	critical := make([]bool, len(p.through)) // by block
	markTails := func(head point) {
		if !p.isOn(head) {
			return
		}
		at := e.times.of(head)
		e.into(costs, head, func(tail point, w way) {
			if !p.isOn(tail) && e.times.of(tail)+costs.edge(w, head).length() == at {
				p.put(tail)
			}
		})
		if block, ok := e.blockBefore(head); ok && e.times.block[block] == at {
			critical[block] = true
		}
	}
	markEnd := func(op uint32) {
		t := e.times.end[op]
		if t == int64(e.T) {
			p.put(endOf(op))
		} else if e.s.blocks != nil && e.s.endsBlock(op) {
			if block := e.s.blocks.of[op]; critical[block] && e.times.block[block] == t {
				p.put(endOf(op))
			}
		}
		markTails(endOf(op))
	}
	for i := len(e.order.points) - 1; i >= 0; i-- {
		q := e.order.points[i]
		if q.isEnd() || e.order.protocol.impliesEnd(e.s, q.op()) {
			markEnd(q.op())
		}
		if !q.isEnd() {
			markTails(q)
		}
	}
}

// blockBefore returns the block whose end a start waits for directly.
func (e *Evaluation) blockBefore(head point) (block uint32, ok bool) {
	op := head.op()
	if head.isEnd() || e.s.blocks == nil || e.s.predFirst[op] != e.s.predFirst[op+1] {
		return 0, false
	}
	return e.s.previous(op)
}

// collect finds the best ways to all marked points, in order, and the last point of the canonical path.
func (e *Evaluation) collect(p *paths, costs *coster) {
	var last arrival
	takeEnd := func(op uint32) {
		q := endOf(op)
		e.arrive(p, costs, q)
		if e.times.end[op] != int64(e.T) {
			return
		}
		a := *p.of(q)
		if e.better(&last, &a, p.last, q) {
			p.last, last.canonical = q, a.canonical
		}
		last.widen(&a)
	}
	for _, q := range e.order.points {
		if p.isOn(q) {
			if q.isEnd() {
				takeEnd(q.op())
				continue
			}
			e.arrive(p, costs, q)
		}
		if e.order.protocol.impliesEnd(e.s, q.op()) && p.isOn(endOf(q.op())) && !q.isEnd() {
			takeEnd(q.op())
		}
	}
	p.lambda = Lambda{L: last.most.units, LLeft: last.minL, Bytes: last.most.size, O: last.most.overheads}
}

// better reports whether a way that comes from point q is to be preferred to the present one, which
// comes from point old.
func (e *Evaluation) better(present, a *arrival, old, q point) bool {
	if !present.known || present.canonical.less(&a.canonical) {
		return true
	}
	return present.canonical == a.canonical && e.s.fileNumber(q) < e.s.fileNumber(old)
}

// widen takes the paths of another arrival into the numbers that are each independent of the others.
func (a *arrival) widen(b *arrival) {
	if !a.known {
		a.minL = b.minL
	}
	a.known = true
	a.most.units = max(a.most.units, b.most.units)
	a.most.size = max(a.most.size, b.most.size)
	a.most.overheads = max(a.most.overheads, b.most.overheads)
	a.minL = min(a.minL, b.minL)
}

// arrive finds the best ways to a marked point.
func (e *Evaluation) arrive(p *paths, costs *coster, head point) {
	at := e.times.of(head)
	a := arrival{first: true}
	consider := func(from *arrival, tail point, w way, c cost) {
		b := *from
		units, size := c.units(), c.size()
		for _, l := range []*lengths{&b.canonical, &b.most} {
			l.units += units
			l.size += size
			l.overheads += c.overheads
		}
		b.minL += units
		if e.better(&a, &b, a.tail, tail) {
			a.canonical, a.tail, a.way, a.first = b.canonical, tail, w, false
		}
		a.widen(&b)
	}
	e.into(costs, head, func(tail point, w way) {
		c := costs.edge(w, head)
		if e.times.of(tail)+c.length() == at {
			consider(p.of(tail), tail, w, c)
		}
	})
	if block, ok := e.blockBefore(head); ok && e.times.block[block] == at {
		from := e.passBlock(p, block)
		consider(from, from.tail, waitFor, cost{})
	}
	a.known = true
	*p.of(head) = a
}

// passBlock finds the best ways to the end of a block; tail is the end of the operation by which the
// canonical path gets there.
func (e *Evaluation) passBlock(p *paths, block uint32) *arrival {
	a := &p.through[block]
	if a.known {
		return a
	}
	from, to := e.s.graph.BlockOps(int(block))
	for op := uint32(from); op < uint32(to); op++ {
		if !e.s.endsBlock(op) || e.times.end[op] != e.times.block[block] {
			continue
		}
		b := p.of(endOf(op))
		if e.better(a, b, a.tail, endOf(op)) {
			a.canonical, a.tail = b.canonical, endOf(op)
		}
		a.widen(b)
	}
	return a
}
