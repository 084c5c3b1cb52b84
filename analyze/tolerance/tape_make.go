package tolerance

import (
	"cmp"
	"errors"
	"slices"
)

// tapeMaker makes a graph from the points of a schedule in order. All of it is exact:
//
//   - what waits for one thing only is not a node of its own but a line over that one;
//   - what only one other point waits for is not a node either: its lines go to that one, shifted;
//   - of two lines from one node that which is nowhere above the other is dropped;
//   - only the ends of ranks lead to the sink; all others are no later than one of these.
type tapeMaker struct {
	tape  *tape
	sinks []line
	steep int // nodes that were added for steep lines
}

// errSteep is returned if lines are so steep that more nodes than operations would be needed for them.
var errSteep = errors.New("messages of this schedule are too large for a curve over G; are their sizes in bytes?")

// manySteep is how many additional nodes steep lines may always have.
const manySteep = 1 << 12

// maxCompared bounds how many lines addLine looks at; points with very many of them
// then keep a few that could be dropped.
const maxCompared = 8

// maxList is the largest number of lines that go to their only reader instead of to a node: they are copied.
const maxList = 16

// moved returns a line that is later by a span.
func (p *pass) moved(l line, s span) line {
	c, a, u := l.c+s.c, int64(l.a)+s.a, l.u
	p.lineOverflow |= c
	for ; a > maxSlope; a -= maxSlope {
		if p.steep++; p.steep > manySteep+2*p.ops {
			p.costs.fail(errSteep)
			a = maxSlope
			break
		}
		u = p.tape.add([]line{{0, maxSlope, u}})
	}
	return line{c, int32(a), u}
}

// tidy makes a list the lines of the present point, without those that are nowhere above another one.
func (p *pass) tidy(list []line) {
	if p.axis == nil {
		return
	}
	p.lines = p.lines[:0]
	if len(list) == 0 {
		p.lines = append(p.lines, line{}) // the source
		return
	}
	for _, l := range list {
		p.addLine(l)
	}
}

// addLine adds a line to the present point, unless there is one from the same node that is nowhere
// below it. It looks at the first and at the last ones only.
func (p *pass) addLine(add line) {
	n := len(p.lines)
	for i := 0; i < n; i++ {
		if i == maxCompared && n > 2*maxCompared {
			i = n - maxCompared
		}
		l := &p.lines[i]
		switch {
		case l.u != add.u:
		case l.c >= add.c && l.a >= add.a:
			return
		case l.c <= add.c && l.a <= add.a:
			*l = add
			return
		}
	}
	p.lines = append(p.lines, add)
}

// settle makes a node of the present point if it has several lines and several readers.
func (p *pass) settle(readers int) {
	if n := len(p.lines); n < 2 || readers < 2 && n <= maxList {
		return
	}
	p.lines = append(p.lines[:0], line{u: p.newNode()})
}

// newNode makes a node of the present point.
func (p *pass) newNode() uint32 {
	if !p.tape.fits() {
		p.costs.fail(errors.New("the schedule is too large: its graph has 2^32 nodes"))
		return 0
	}
	return p.tape.add(p.lines)
}

// graph returns the graph of T when the pass has ended.
func (p *pass) graph() (*Graph, error) {
	slices.SortFunc(p.sinks, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.u, b.u), cmp.Compare(b.c, a.c), cmp.Compare(b.a, a.a))
	})
	p.tidy(append(p.sinks, line{})) // the source is for schedules without operations
	if p.costs.err != nil {
		return nil, p.costs.err
	}
	if p.lineOverflow < 0 {
		return nil, ErrOverflow
	}
	p.tape.end(slices.Clone(p.lines))
	return newGraph(p.tape, *p.axis)
}
