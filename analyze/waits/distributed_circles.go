package waits

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/unit"
)

// circular is a wait state that is left because of circles, as process 0 sees it.
type circular struct {
	id           int // number among the states of all processes
	came         int64
	amount, long int64
	indirect     int64
	propagating  int64
	rank         int // of the cause
	metric       Metric
	first        unit.Duration // as of a wait state
	order        int
	paths        []int32
	states       []int // numbers among the states of all processes
	weights      []int64
	total        int64
}

// breakCirclesTogether is breakCircles for parts: process 0 accounts for what is left of all of them.
func (b *backward) breakCirclesTogether() (int, error) {
	a := b.a
	g := a.part.Group
	in, err := cluster.AllGather(b.ctx, g, binary.AppendUvarint(nil, uint64(b.left())))
	if err != nil {
		return 0, err
	}
	total := 0
	for p := range in {
		total += int((&chunk.Column{B: in[p]}).Uint())
	}
	if total == 0 {
		return 0, nil
	}
	if in, err = cluster.Gather(b.ctx, g, b.appendCircles()); err != nil {
		return 0, err
	}
	out := make([][]byte, g.Size())
	if g.Rank() == 0 {
		left, ok := readCircles(in)
		if !ok {
			return 0, cluster.ErrGarbled
		}
		b.workers[0].accountForCircles(left, int(b.order.Load()))
		for _, s := range left {
			p, _ := slices.BinarySearch(a.bases, s.id+1)
			p--
			out[p] = binary.AppendUvarint(out[p], uint64(s.id-a.bases[p]))
			out[p] = binary.AppendUvarint(out[p], uint64(s.indirect))
			out[p] = binary.AppendUvarint(out[p], uint64(s.propagating))
			out[p] = binary.AppendUvarint(out[p], uint64(s.order))
		}
	}
	if in, err = g.Exchange(b.ctx, out); err != nil {
		return 0, err
	}
	for c := (chunk.Column{B: in[0]}); c.Left() > 0; {
		i := c.Uint()
		if i >= uint64(len(a.states)) {
			return 0, cluster.ErrGarbled
		}
		s := &a.states[i]
		s.circular = true
		s.indirect = int64(c.Uint())
		raise(&s.propagating, int64(c.Uint()))
		if s.order = int32(c.Uint()); c.Bad {
			return 0, cluster.ErrGarbled
		}
	}
	return total, nil
}

// left is the number of wait states here that are not accounted for.
func (b *backward) left() int {
	n := 0
	for i := range b.a.states {
		if b.a.states[i].order == 0 {
			n++
		}
	}
	return n
}

// The records of what is left.
const (
	circleState byte = iota + 1 // what the owner of a wait state knows
	circleCause                 // what the owner of its cause knows
)

// appendCircles writes what this process knows of the wait states that are left.
func (b *backward) appendCircles() []byte {
	a := b.a
	base := a.bases[a.part.Group.Rank()]
	var out []byte
	c := b.workers[0].causes
	cause := func(id int, rank int, m metricParts) {
		out = append(out, circleCause)
		out = binary.AppendUvarint(out, uint64(id))
		out = binary.AppendUvarint(out, uint64(rank))
		out = append(out, byte(m.metric))
		out = binary.AppendUvarint(out, uint64(m.first))
		out = c.append(out, a)
	}
	for i := range a.states {
		s := &a.states[i]
		if s.order != 0 {
			continue
		}
		out = append(out, circleState)
		out = binary.AppendUvarint(out, uint64(base+i))
		out = chunk.AppendInt(out, int64(a.calls(s.cause).Enter[s.causeCall]))
		out = binary.AppendUvarint(out, uint64(s.amount))
		out = binary.AppendUvarint(out, uint64(s.long))
		out = binary.AppendUvarint(out, uint64(s.propagating))
		if a.isHere(s.cause) {
			c.find(a, i)
			cause(base+i, a.rankOf(s.cause), s.parts())
		}
	}
	for p := range len(b.foreignOf) - 1 {
		for i := b.foreignOf[p]; i < b.foreignOf[p+1]; i++ {
			if f := &b.foreign[i]; !f.done {
				c.findForeign(a, f)
				cause(a.bases[p]+f.number, a.rankOf(f.cause), f.parts())
			}
		}
	}
	return out
}

// append writes causes: paths, wait states by their numbers among those of all processes, and weights.
func (c *causes) append(b []byte, a *analysis) []byte {
	base := 0
	if a.part != nil {
		base = a.bases[a.part.Group.Rank()]
	}
	b = binary.AppendUvarint(b, uint64(len(c.paths)))
	for i, path := range c.paths {
		b = binary.AppendUvarint(b, uint64(path))
		b = binary.AppendUvarint(b, uint64(c.weights[i]))
	}
	b = binary.AppendUvarint(b, uint64(len(c.states)))
	for i, s := range c.states {
		b = binary.AppendUvarint(b, uint64(base+s.state))
		b = binary.AppendUvarint(b, uint64(c.weights[len(c.paths)+i]))
	}
	return b
}

// readCauses reads causes.
func readCauses(c *chunk.Column) (paths []int32, states []int, weights []int64, total int64) {
	for range min(c.Uint(), uint64(c.Left())) {
		paths = append(paths, int32(c.Uint()))
		weights = append(weights, int64(c.Uint()))
	}
	for range min(c.Uint(), uint64(c.Left())) {
		states = append(states, int(c.Uint()))
		weights = append(weights, int64(c.Uint()))
	}
	for _, w := range weights {
		total += w
	}
	return paths, states, weights, total
}

// readCircles puts together what all processes know of what is left.
func readCircles(in [][]byte) ([]*circular, bool) {
	byID := map[int]*circular{}
	get := func(id int) *circular {
		if byID[id] == nil {
			byID[id] = &circular{id: id}
		}
		return byID[id]
	}
	for p := range in {
		for c := (chunk.Column{B: in[p]}); c.Left() > 0; {
			kind := c.Byte()
			s := get(int(c.Uint()))
			if kind == circleState {
				s.came, s.amount, s.long, s.propagating = c.Int(), int64(c.Uint()), int64(c.Uint()), int64(c.Uint())
			} else {
				s.rank, s.metric, s.first = int(c.Uint()), Metric(c.Byte()), unit.Duration(c.Uint())
				s.paths, s.states, s.weights, s.total = readCauses(&c)
			}
			if c.Bad || s.metric >= None || s.first > 0 && kinds[s.metric].before == nil {
				return nil, false
			}
		}
	}
	left := slices.SortedFunc(maps.Values(byID), func(x, y *circular) int {
		return cmp.Or(cmp.Compare(y.came, x.came), cmp.Compare(x.id, y.id))
	})
	for _, s := range left {
		for _, id := range s.states {
			if byID[id] == nil {
				return nil, false
			}
		}
	}
	return left, true
}

// accountForCircles does what breakCircles does, with what was gathered.
func (w *accountant) accountForCircles(left []*circular, order int) {
	byID := make(map[int]*circular, len(left))
	for _, s := range left {
		byID[s.id] = s
	}
	for _, s := range left {
		order++
		s.order = order
		w.causes.weights, w.causes.total = s.weights, s.total
		w.split(s.amount, s.long)
		if s.total == 0 {
			w.unattributed += s.amount + s.long
			continue
		}
		for i, path := range s.paths {
			w.addCost(s.rank, path, metricParts{s.metric, s.first, unit.Duration(s.amount)}, w.short[i], w.long[i])
		}
		for i, id := range s.states {
			short, long := w.short[len(s.paths)+i], w.long[len(s.paths)+i]
			target := byID[id]
			if target.order != 0 {
				w.unattributed += short + long
				continue
			}
			s.indirect += short
			target.long += short + long
			target.propagating = max(target.propagating, int64(min(unit.Duration(short), unit.Duration(target.amount))))
		}
	}
	w.causes.weights = nil
}
