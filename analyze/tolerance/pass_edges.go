package tolerance

import (
	"slices"

	"slackline/model/machine"
	"slackline/model/schedule"
)

// messageEdges are the edges of a message.
type messageEdges struct {
	own, carry, request, granting, gap edge
	rendezvous, hasGap                 bool
}

// edgesEntry are the edges of messages of one size and class.
type edgesEntry struct {
	key      int64 // size plus 1; 0: empty
	class    machine.Class
	buffered bool
	messageEdges
}

// edgesOf returns the edges of a message. They are valid until the next call.
func (p *pass) edgesOf(from, to int, size int64, buffered bool) *messageEdges {
	if p.costs.n.Table != nil {
		p.fill(&p.one, p.costs.of(from, to, size, buffered))
		return &p.one
	}
	class := p.costs.classOf(from, to)
	e := &p.table[(uint64(size)*0x9E3779B97F4A7C15>>59)|uint64(class&1)<<5]
	if e.key != size+1 || e.class != class || e.buffered != buffered {
		*e = edgesEntry{key: size + 1, class: class, buffered: buffered}
		p.fill(&e.messageEdges, p.costs.of(from, to, size, buffered))
	}
	return &e.messageEdges
}

// fill computes the edges of a message that it needs.
func (p *pass) fill(e *messageEdges, m *message) {
	e.rendezvous, e.hasGap = m.rendezvous, p.gaps && m.gap > 0
	e.own, e.carry = p.edge(own.of(m)), p.edge(carry.of(m))
	if e.rendezvous {
		e.request, e.granting = p.edge(request.of(m)), p.edge(granting.of(m))
	}
	if e.hasGap {
		e.gap = p.edge(gap.of(m))
	}
}

func (p *pass) edge(c cost) edge {
	e := edge{length: c.length(), lengths: lengths{c.units(), c.size(), c.overheads}}
	p.overflow |= e.length
	if p.axis != nil {
		e.line = p.axis.line(c)
	}
	return e
}

// chainSends finds out which sends of a block wait for the gap of the one before them, on the same NIC. Roots that do are not begun at
// once: the present point, where the block starts, is one of those that they wait for.
func (p *pass) chainSends(rank int) {
	r := &p.ranks[rank]
	r.nextSend = slices.Grow(r.nextSend[:0], len(r.ops))[:len(r.ops)]
	clear(r.nextSend)
	for i := range r.nics {
		r.nics[i].inside = false
	}
	roots, kept := p.roots, p.roots[:0]
	for i := range uint32(len(r.ops)) {
		isRoot := len(roots) > 0 && roots[0] == i
		if isRoot {
			roots = roots[1:]
		}
		waits := r.ops[i].Kind == schedule.Send && !isAgent(&r.ops[i]) && p.chain(rank, i)
		switch {
		case isRoot && !waits:
			kept = append(kept, i)
		case isRoot:
			state := &r.state[i]
			if state.slot == 0 {
				state.slot = p.slots.new()
			}
			p.collectAgain(state.slot)
			if state.waiting == 0 {
				p.ready = append(p.ready, ready{int32(rank), i})
			}
		}
	}
	p.roots = kept
}

// isAgent reports whether a send is none of a call of its rank. Such sends neither wait for the gap of others nor make them wait: their
// place among the other sends of the rank says nothing about when they are sent.
func isAgent(op *schedule.Op) bool { return op.World() == schedule.AgentContext }

// chain makes a send wait for the gap of the one before it, and reports whether it does.
func (p *pass) chain(rank int, i uint32) (waits bool) {
	r := &p.ranks[rank]
	op := &r.ops[i]
	n := r.nic(op.NIC)
	switch {
	case !n.hasGap:
	case n.inside:
		r.nextSend[n.op] = i + 1
		r.state[i].waiting++
		waits = true
	default:
		state := &r.state[i]
		if state.slot == 0 {
			state.slot = p.slots.new()
		}
		if p.record != nil {
			p.record.move(n.slot, state.slot, &n.edge, n.number|numberGap)
		}
		held := &p.slots.list[n.slot]
		s := &p.slots.list[state.slot]
		s.join(&held.moment, &n.edge, n.number|numberGap)
		for _, l := range held.lines {
			s.lines = append(s.lines, p.moved(l, n.edge.line))
		}
		p.release(n.slot)
		waits = true
	}
	n.op, n.inside, n.slot = i, true, 0
	n.hasGap = p.edgesOf(rank, int(op.Peer), op.Size, op.IsBuffered()).hasGap
	return waits
}

// nic returns the state of a NIC.
func (r *rankState) nic(nic uint8) *nicState {
	for i := range r.nics {
		if r.nics[i].nic == nic {
			return &r.nics[i]
		}
	}
	r.nics = append(r.nics, nicState{nic: nic})
	return &r.nics[len(r.nics)-1]
}

// holdNext lets the next send of its NIC wait for the gap of a send whose start is the present point.
func (p *pass) holdNext(rank int, i uint32, e *messageEdges, number uint64) {
	r := &p.ranks[rank]
	switch next := r.nextSend[i]; {
	case !e.hasGap || isAgent(&r.ops[i]):
	case next != 0:
		p.push(r, rank, next-1, &e.gap, number|numberGap)
	default:
		n := r.nic(r.ops[i].NIC)
		n.slot, n.number, n.edge = p.slots.new(), number, e.gap
		p.collect(n.slot, &nothing, number)
	}
}
