package tolerance

import (
	"cmp"
	"slices"

	"slackline/model/schedule"
)

// passState describes where a pass is between two rounds: all that decides what it does next, but for times. Two passes with equal
// states that load equal blocks do the same.
type passState struct {
	words []uint64
	live  []uint32 // slots with points that are known, in an order that follows from the state

	slots     int // that are in use
	envelopes map[uint32]bool
	p         *pass
}

// state describes where the pass is now.
func (p *pass) state() *passState {
	s := &passState{p: p, envelopes: map[uint32]bool{}}
	for rank := range p.ranks {
		s.rank(rank)
	}
	var waiting []*channelEntry
	for i := range p.mail.table {
		if e := &p.mail.table[i]; e.head != 0 {
			waiting = append(waiting, e)
		}
	}
	slices.SortFunc(waiting, func(a, b *channelEntry) int { return cmp.Or(cmp.Compare(a.ranks, b.ranks), cmp.Compare(a.tag, b.tag)) })
	for _, e := range waiting {
		s.add(e.ranks, e.tag)
		for n := e.head; n != 0; n = p.mail.envelopes[n].next {
			s.envelope(n)
		}
	}
	return s
}

func (s *passState) add(words ...uint64) { s.words = append(s.words, words...) }

func (s *passState) flag(set bool) {
	word := uint64(0)
	if set {
		word = 1
	}
	s.add(word)
}

// slot adds whether there is a slot, and a way to its point.
func (s *passState) slot(n uint32) {
	switch {
	case n == 0:
		s.add(0)
		return
	case s.p.slots.list[n].at < 0:
		s.add(1)
	default:
		s.add(2)
		s.live = append(s.live, n)
	}
	s.slots++
}

func (s *passState) rank(rank int) {
	r := &s.p.ranks[rank]
	s.add(uint64(r.open), uint64(len(r.ops)))
	s.slot(r.end)
	for i := range r.nics {
		n := &r.nics[i]
		s.add(uint64(n.nic), uint64(n.op), uint64(uint32(n.number)-r.first<<2), uint64(n.edge.length), uint64(n.edge.size))
		s.flag(n.hasGap)
		s.flag(n.inside)
		s.slot(n.slot)
	}
	if r.open == 0 {
		return
	}
	for i := range r.ops {
		op, state := &r.ops[i], &r.state[i]
		s.add(shapeOf(op)...)
		s.add(uint64(state.waiting))
		s.slot(state.slot)
		if n := state.message; n != 0 && s.p.mail.envelopes[n].isOf(rank, r.first+uint32(i), op.Kind == schedule.Send) {
			s.envelope(n)
		}
	}
	for _, n := range r.begins {
		s.add(uint64(n))
	}
	for _, d := range r.dependents {
		s.add(uint64(d))
	}
	if s.p.gaps {
		for _, n := range r.nextSend {
			s.add(uint64(n))
		}
	}
}

// isOf reports whether this is the envelope of an operation.
func (e *envelope) isOf(rank int, index uint32, isSend bool) bool {
	if isSend {
		return e.hasSend && int(e.from) == rank && e.sendIndex == index
	}
	return e.hasRecv && int(e.to) == rank && e.recvIndex == index
}

func (s *passState) envelope(n uint32) {
	if s.envelopes[n] {
		return
	}
	s.envelopes[n] = true
	e := &s.p.mail.envelopes[n]
	s.flag(e.hasSend)
	s.flag(e.hasRecv)
	s.flag(e.buffered)
	s.add(uint64(e.from), uint64(e.to), uint64(e.sendOp), uint64(e.recvOp), uint64(e.size))
	if e.hasSend {
		s.add(uint64(e.sendIndex - s.p.ranks[e.from].first))
	}
	if e.hasRecv {
		s.add(uint64(e.recvIndex - s.p.ranks[e.to].first))
	}
	s.slot(e.sendSlot)
	s.slot(e.recvSlot)
}

// shapeOf is what decides what a pass does with an operation, but for the time of a calculation.
func shapeOf(op *schedule.Op) []uint64 {
	size := op.Size
	if op.Kind == schedule.Calc {
		size = 0
	}
	return []uint64{uint64(size), uint64(uint32(op.Peer))<<32 | uint64(op.Tag), uint64(op.Kind)<<16 | uint64(op.NIC)<<8 | uint64(op.Context)}
}

// sameShape compares two operations by what decides what a pass does with them.
func sameShape(a, b *schedule.Op) bool {
	return a.Kind == b.Kind && (a.Size == b.Size || a.Kind == schedule.Calc) && a.Peer == b.Peer && a.Tag == b.Tag &&
		a.NIC == b.NIC && a.Context == b.Context
}

// has reports whether a block is this one, but for the times of calculations.
func (l *lapBlock) has(b *schedule.Block) bool {
	if len(l.ops) != len(b.Ops) || !slices.Equal(l.first, b.First) || !slices.Equal(l.dependents, b.Dependents) {
		return false
	}
	for i := range l.ops {
		if !sameShape(&l.ops[i], &b.Ops[i]) {
			return false
		}
	}
	return true
}
