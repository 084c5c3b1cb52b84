package tolerance

import (
	"fmt"

	"slackline/model/machine"
	"slackline/model/unit"
)

// message is what a message costs at the given parameters. Its latency is units*L + constant.
type message struct {
	overhead   int64         // o
	latency    int64         // of one of its ways through the network, all in all
	constant   int64         // the part of it that is not L
	units      int64         // number of L in it
	size       int64         // b = max(size-1, 0)
	bytes      int64         // b*G, rounded
	gap        int64         // g; 0: the next send need not wait
	perByte    int64         // G, in femtoseconds
	large      bool          // than S
	rendezvous bool          // its sender waits for its receive
	class      machine.Class // one with the same parameters, unless coster.tellClasses was called
}

// coster computes what messages cost on a network. It remembers the last answers, since programs use few
// sizes. It keeps the first error.
type coster struct {
	n       Network
	uniform bool          // the same parameters hold for all messages ...
	class   machine.Class // ... and this class has them; messages may be of another one
	entries [64]costEntry
	err     error
}

type costEntry struct {
	key  int64 // size plus 1; 0: empty
	by   machine.Class
	cost message
}

// newCoster checks that the network fits the schedule.
func newCoster(s *Schedule, n Network) (*coster, error) {
	if n.Layout == nil || n.Layout.Ranks != s.ranks {
		return nil, fmt.Errorf("the network is made for another number of ranks than the %d of the schedule", s.ranks)
	}
	c := &coster{n: n}
	c.class, c.uniform = n.Layout.Uniform()
	return c, nil
}

// tellClasses makes classes exact, also if all have the same parameters.
func (c *coster) tellClasses() { c.uniform, c.entries = false, [len(c.entries)]costEntry{} }

// classOf returns the class of messages between two ranks.
func (c *coster) classOf(from, to int) machine.Class {
	if c.uniform {
		return c.class
	}
	return c.n.Layout.Class(from, to)
}

// hasGaps reports whether a send may have to wait for the gap of another one.
func (c *coster) hasGaps() bool {
	for class := range machine.Class(machine.NumClasses) {
		if c.n.Layout.Occurs(class) && c.n.Layout.Machine.Classes[class].Gap > 0 {
			return !c.n.NoGap
		}
	}
	return false
}

// of returns the cost of a message. It is valid until the next call.
func (c *coster) of(from, to int, size int64, buffered bool) *message {
	class := c.classOf(from, to)
	e := &c.entries[(uint64(size)*0x9E3779B97F4A7C15>>59)|uint64(class&1)<<5]
	if e.key != size+1 || e.by != class {
		e.key, e.by = size+1, class
		e.cost = c.compute(from, to, size, class)
	}
	e.cost.rendezvous = e.cost.large && !buffered
	if t := c.n.Table; t != nil {
		c.takeLatency(&e.cost, from, to, t)
	}
	return &e.cost
}

func (c *coster) compute(from, to int, size int64, class machine.Class) message {
	p := &c.n.Layout.Machine.Classes[class]
	cost := p.Cost(size)
	m := message{
		overhead: cost.Overhead, latency: cost.Latency, units: 1,
		size: max(size-1, 0), bytes: cost.Bytes, gap: cost.Gap, perByte: int64(p.PerByte.At(size)),
		large: cost.Rendezvous, class: class,
	}
	if c.n.NoGap {
		m.gap = 0
	}
	if _, ok := p.PerByte.At(size).Times(m.size); !ok {
		c.fail(fmt.Errorf("rank %d: a message of %d bytes to rank %d: %w", from, size, to, ErrOverflow))
		m.bytes = 0
	}
	return m
}

// takeLatency replaces the latency by that of the table.
func (c *coster) takeLatency(m *message, from, to int, t *Table) {
	units, constant := t.Of(from, to)
	if units < 0 || constant < 0 || units > maxUnits || units > 0 && int64(t.L) > (maxTime-int64(constant))/units {
		c.fail(fmt.Errorf("the latency from rank %d to rank %d is %d*L + %s, which cannot be: %w", from, to, units, constant, ErrOverflow))
		units, constant = 0, 0
	}
	m.units, m.constant = units, int64(constant)
	m.latency = units*int64(t.L) + int64(constant)
}

// maxUnits bounds the latencies that a table may count for one way of a message.
const maxUnits = 1 << 20

func (c *coster) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

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
