package tolerance

import "slackline/model/unit"

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

// of is what is spent on an edge of a kind, for a message.
func (w way) of(m *message) cost {
	switch w {
	case gap:
		return cost{gap: true, data: true, m: m}
	case own:
		return cost{overheads: 1, m: m}
	case carry:
		return cost{overheads: 1, latencies: 1, data: !m.rendezvous, m: m}
	case request:
		return cost{overheads: 3, latencies: 2, data: true, m: m}
	case granting:
		return cost{overheads: 2, latencies: 1, data: true, m: m}
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
