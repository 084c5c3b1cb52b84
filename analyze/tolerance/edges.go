package tolerance

import (
	"slackline/model/schedule"
	"slackline/model/unit"
)

// way is a kind of edge of the full graph. The node match of a rendezvous is left out: the edges into
// it and out of it are joined.
type way uint8

const (
	waitFor  way = iota // a dependency, or the block before: nothing is spent
	gap                 // start of a send to the start of the next one of its rank and nic
	own                 // start to end of an operation
	carry               // end of a send to the end of its receive
	request             // start of a rendezvous send to its end
	granting            // start of the receive of a rendezvous to the end of its send
)

// cost is what is spent on an edge: calculation, a number of overheads of o each, a number of
// latencies of units*L + constant each, b bytes, and a gap.
type cost struct {
	calc      int64
	overheads int64
	latencies int64
	data      bool // the bytes of the message are on the way
	gap       bool
	m         *message // nil if no message is involved
}

// edge returns what is spent on an edge that ends in a point. The message in it is valid until the
// next call.
func (c *coster) edge(w way, head point) cost {
	op := head.op()
	switch w {
	case gap:
		before, _ := c.gaps.gap(op)
		return cost{gap: true, data: true, m: c.of(before)}
	case own:
		switch o := &c.s.ops[op]; o.Kind {
		case schedule.Calc:
			return cost{calc: o.Size}
		case schedule.Send:
			return cost{overheads: 1, m: c.of(op)}
		}
		return cost{overheads: 1, m: c.of(c.s.partner[op])}
	case carry:
		m := c.of(c.s.partner[op])
		return cost{overheads: 1, latencies: 1, data: !m.rendezvous, m: m}
	case request:
		return cost{overheads: 3, latencies: 2, data: true, m: c.of(op)}
	case granting:
		return cost{overheads: 2, latencies: 1, data: true, m: c.of(op)}
	}
	return cost{}
}

// length is the time that is spent.
func (c cost) length() int64 {
	t := c.calc
	if c.m == nil {
		return t
	}
	t += c.overheads*c.m.overhead + c.latencies*c.m.latency
	if c.data {
		t += c.m.bytes
	}
	if c.gap {
		t += c.m.gap
	}
	return t
}

// units is the number of L.
func (c cost) units() int64 {
	if c.m == nil {
		return 0
	}
	return c.latencies * c.m.units
}

// size is the number of bytes that are charged.
func (c cost) size() int64 {
	if !c.data {
		return 0
	}
	return c.m.size
}

// spend adds what is spent to a profile.
func (c cost) spend(p *Profile) {
	p.Calc += unit.Duration(c.calc)
	if c.m == nil {
		return
	}
	p.Overhead += unit.Duration(c.overheads * c.m.overhead)
	p.Latency += unit.Duration(c.latencies * (c.m.latency - c.m.constant))
	p.Switch += unit.Duration(c.latencies * c.m.constant)
	if c.data {
		p.Bandwidth += unit.Duration(c.m.bytes)
	}
	if c.gap {
		p.Gap += unit.Duration(c.m.gap)
	}
}

// into calls visit for every edge that ends in a point, but for those from the block before.
func (e *Evaluation) into(c *coster, head point, visit func(tail point, w way)) {
	s, op := e.s, head.op()
	if !head.isEnd() {
		for _, p := range s.preds[s.predFirst[op]:s.predFirst[op+1]] {
			visit(p, waitFor)
		}
		if before, ok := e.order.protocol.gap(op); ok {
			visit(startOf(before), gap)
		}
		return
	}
	other := s.partner[op]
	switch kind := s.ops[op].Kind; {
	case kind == schedule.Recv:
		visit(startOf(op), own)
		visit(endOf(other), carry)
	case kind == schedule.Send && e.order.protocol.isRendezvous(op):
		visit(startOf(op), request)
		visit(startOf(other), granting)
	default:
		visit(startOf(op), own)
	}
}
