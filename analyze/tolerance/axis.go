package tolerance

import (
	"fmt"
	"math/bits"
	"slices"

	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// axis turns costs into lines over the variable of a graph. Inside a graph the variable is counted
// from the smallest value on at which every parameter is at least 0, so that no line has a negative
// constant or slope.
type axis struct {
	v     Variable
	costs *coster
	// smallest is the smallest of the values that move, at the given parameters.
	smallest int64
	// at is the given value of the reference; the graph begins at lowest.
	at, lowest int64
	// scale is the number of units of time in a picosecond.
	scale int64
}

// femtosPerPico is the unit of time of graphs over G, in which b*G is not rounded.
const femtosPerPico = 1000

// newAxis looks at all messages for the values that the parameter has.
func newAxis(s *Schedule, c *coster, v Variable) (*axis, error) {
	if v.Parameter > O {
		return nil, fmt.Errorf("there is no parameter %d", v.Parameter)
	}
	x := &axis{v: v, costs: c, scale: 1}
	if v.Parameter == G {
		x.scale = femtosPerPico
	}
	if v.Parameter == L && c.n.Table != nil {
		x.smallest = int64(c.n.Table.L)
		x.at, x.v.Classes = x.smallest, nil
		return x, nil
	}
	if len(v.Classes) > 0 {
		c.tellClasses()
	}
	used := x.usedClasses(s)
	reference := machine.Class(machine.NumClasses)
	for class := range machine.Class(machine.NumClasses) { // the last one is the reference
		if v.varies(class) && (used[class] || reference == machine.NumClasses) {
			reference = class
		}
	}
	if reference == machine.NumClasses {
		return nil, fmt.Errorf("no class is varied")
	}
	x.at = x.value(reference, 0)
	x.smallest = x.at
	for class := range machine.Class(machine.NumClasses) {
		if v.varies(class) && used[class] {
			x.smallest = min(x.smallest, x.smallestOf(class))
		}
	}
	x.lowest = x.at - x.smallest
	return x, nil
}

// usedClasses describes of which classes there are messages.
func (x *axis) usedClasses(s *Schedule) (used [machine.NumClasses]bool) {
	c := x.costs
	if c.uniform {
		used[c.class] = true
		return used
	}
	s.each(func(rank int, op *schedule.Op) {
		if op.Kind == schedule.Send && uint(op.Peer) < uint(s.ranks) {
			used[c.classOf(rank, int(op.Peer))] = true
		}
	})
	return used
}

// value returns the parameter of a class for a size.
func (x *axis) value(class machine.Class, size int64) int64 {
	p := &x.costs.n.Layout.Machine.Classes[class]
	switch x.v.Parameter {
	case O:
		return int64(p.Overhead.At(size))
	case G:
		return int64(p.PerByte.At(size))
	}
	return int64(p.Latency)
}

// smallestOf returns the smallest value of the parameter in a class.
func (x *axis) smallestOf(class machine.Class) int64 {
	p := &x.costs.n.Layout.Machine.Classes[class]
	switch x.v.Parameter {
	case O:
		return smallestPiece(p.Overhead)
	case G:
		return smallestPiece(p.PerByte)
	}
	return int64(p.Latency)
}

func smallestPiece[T unit.Duration | unit.PerByte](pieces machine.Pieces[T]) int64 {
	smallest := pieces[0].Value
	for _, piece := range pieces {
		smallest = min(smallest, piece.Value)
	}
	return int64(smallest)
}

// varies reports whether the parameter of a class belongs to the variable.
func (v Variable) varies(class machine.Class) bool {
	return len(v.Classes) == 0 || slices.Contains(v.Classes, class)
}

// span is a time as a line over the variable: c + a*x.
type span struct{ c, a int64 }

func (s span) plus(t span) span   { return span{s.c + t.c, s.a + t.a} }
func (s span) times(n int64) span { return span{n * s.c, n * s.a} }

// maxPart bounds what one overhead, latency or gap, or the bytes of one message may cost, so that
// the few of them on an edge have a sum that fits.
const maxPart = maxTime / 8

// part returns a constant part of the cost of a message.
func (x *axis) part(t int64) span {
	if t > maxPart/x.scale {
		x.costs.fail(ErrOverflow)
		return span{}
	}
	return span{c: x.scale * t}
}

func (x *axis) isVaried(p Parameter, m *message) bool {
	return x.v.Parameter == p && x.v.varies(m.class)
}

// overhead is o of a message.
func (x *axis) overhead(m *message) span {
	if x.isVaried(O, m) {
		return span{x.part(m.overhead - x.smallest).c, 1}
	}
	return x.part(m.overhead)
}

// latency is one way of a message through the network.
func (x *axis) latency(m *message) span {
	if x.isVaried(L, m) {
		return span{x.part(m.latency - m.units*x.smallest).c, m.units}
	}
	return x.part(m.latency)
}

// data is b*G of a message.
func (x *axis) data(m *message) span {
	if x.v.Parameter != G {
		return x.part(m.bytes)
	}
	if hi, lo := bits.Mul64(uint64(m.size), uint64(m.perByte)); hi != 0 || lo > uint64(maxPart) {
		x.costs.fail(ErrOverflow)
		return span{}
	}
	if x.isVaried(G, m) {
		return span{m.size * (m.perByte - x.smallest), m.size}
	}
	return span{c: m.size * m.perByte}
}

// calc is the time of a calculation; it may be too large to be represented.
func (x *axis) calc(t int64) span {
	if t > maxTime/x.scale {
		x.costs.fail(ErrOverflow)
		return span{}
	}
	return span{c: x.scale * t}
}
