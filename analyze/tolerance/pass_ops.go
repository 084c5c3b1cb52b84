package tolerance

import "slackline/model/schedule"

// begin starts an operation: the present point is its start.
func (p *pass) begin(rank int, i uint32) {
	r := &p.ranks[rank]
	op, number := &r.ops[i], p.s.fileNumber(rank, r.first+i, false)
	if p.paths != nil {
		p.paths.ranks[rank].start[r.first+i] = uint32(p.present.tail)
	}
	if p.record != nil {
		p.record.begin(rank, r.first+i)
	}
	after, ends := r.after(i)
	var e *messageEdges
	readers := len(after) - ends
	switch op.Kind {
	case schedule.Send:
		e = p.edgesOf(rank, int(op.Peer), op.Size, op.IsBuffered())
		if e.hasGap {
			readers++
		}
		if !e.rendezvous {
			readers += max(ends, 1)
		}
		readers++
	case schedule.Recv:
		readers++
	default:
		readers += max(ends, 1)
	}
	p.settle(readers)
	if len(after) > ends {
		for _, d := range after {
			if d.OnStart() {
				p.push(r, rank, uint32(d.Index()), &nothing, number)
			}
		}
	}
	switch op.Kind {
	case schedule.Send:
		if p.gaps {
			p.holdNext(rank, i, e, number)
		}
		if e.rendezvous {
			p.post(r.state[i].message, true)
			return
		}
		p.shift(&e.own, number)
		p.post(r.state[i].message, true)
		p.end(rank, i)
	case schedule.Recv:
		p.post(r.state[i].message, false)
	default:
		if p.record != nil {
			p.record.calc(rank, i, number)
		}
		p.move(p.calculation(op), number)
		p.end(rank, i)
	}
}

var nothing edge // is spent on a dependency

// calculation is what a calculation spends.
func (p *pass) calculation(op *schedule.Op) *edge {
	t := op.Size
	if p.work != nil {
		t = p.work(op)
	}
	p.calc.length = t
	if p.axis != nil {
		p.calc.line = p.axis.calc(t)
	}
	return &p.calc
}

// shift moves the present point over an edge that is the only way from there to the next point.
func (p *pass) shift(e *edge, number uint64) {
	if p.record != nil {
		p.record.shift(e, number)
	}
	p.move(e, number)
}

func (p *pass) move(e *edge, number uint64) {
	p.present.shift(e, number)
	for i, l := range p.lines {
		p.lines[i] = p.moved(l, e.line)
	}
}

// push takes a way from the present point to the start of an operation of the block, which it waits for.
func (p *pass) push(r *rankState, rank int, i uint32, e *edge, number uint64) {
	state := &r.state[i]
	if state.slot == 0 {
		state.slot = p.slots.new()
	}
	p.collect(state.slot, e, number)
	if state.waiting--; state.waiting == 0 {
		p.ready = append(p.ready, ready{int32(rank), i})
	}
}

// collect takes a way from the present point to that of a slot.
func (p *pass) collect(slot uint32, e *edge, number uint64) {
	if p.record != nil {
		p.record.collect(slot, e, number)
	}
	p.join(slot, e, number)
}

// collectAgain is collect for a point that stays what it is.
func (p *pass) collectAgain(slot uint32) {
	if p.record != nil {
		p.record.copyTo(slot)
	}
	p.join(slot, &nothing, p.present.tail)
}

func (p *pass) join(slot uint32, e *edge, number uint64) {
	s := &p.slots.list[slot]
	s.join(&p.present, e, number)
	for _, l := range p.lines {
		s.lines = append(s.lines, p.moved(l, e.line))
	}
}

// post keeps the present point for a message, which is delivered when both ends are there.
func (p *pass) post(message uint32, isSend bool) {
	slot := p.slots.new()
	if p.record != nil {
		p.record.copyTo(slot)
	}
	s := &p.slots.list[slot]
	s.moment = p.present
	s.lines = append(s.lines, p.lines...)
	m := &p.mail.envelopes[message]
	if isSend {
		m.sendSlot = slot
	} else {
		m.recvSlot = slot
	}
	if m.sendSlot != 0 && m.recvSlot != 0 {
		p.ready = append(p.ready, ready{-1, message})
	}
}

// deliver ends the operations of a message of which both have started: the receive, and before it the send of a rendezvous.
func (p *pass) deliver(message uint32) {
	m := p.mail.envelopes[message]
	p.mail.release(message)
	from, to := int(m.from), int(m.to)
	send, recv := p.s.fileNumber(from, m.sendIndex, false), p.s.fileNumber(to, m.recvIndex, false)
	e := p.edgesOf(from, to, m.size, m.buffered)
	p.present, p.raw = never, p.raw[:0]
	if p.record != nil {
		p.record.present = p.record.present[:0]
	}
	if e.rendezvous {
		p.rendezvous++
		p.arrive(m.sendSlot, &e.request, send)
		p.arrive(m.recvSlot, &e.granting, recv)
		p.tidy(p.raw)
		p.decide(from, m.sendIndex, recv, to, m.recvIndex)
		_, ends := p.ranks[from].after(m.sendOp)
		p.settle(max(ends, 1) + 1)
		p.end(from, m.sendOp)
		p.shift(&e.carry, send|numberEnd)
		p.present.join(&p.slots.list[m.recvSlot].moment, &e.own, recv) // earlier, but for ties if L is 0
		if p.record != nil {
			p.record.arrive(m.recvSlot, &e.own, recv)
		}
	} else {
		p.arrive(m.sendSlot, &e.carry, send|numberEnd)
		p.arrive(m.recvSlot, &e.own, recv)
		p.tidy(p.raw)
	}
	p.release(m.sendSlot)
	p.release(m.recvSlot)
	p.decide(to, m.recvIndex, send|numberEnd, from, m.sendIndex)
	_, ends := p.ranks[to].after(m.recvOp)
	p.settle(max(ends, 1))
	p.end(to, m.recvOp)
}

// arrive takes a way from the point of a slot to the present one, whose lines are raw.
func (p *pass) arrive(slot uint32, e *edge, number uint64) {
	if p.record != nil {
		p.record.arrive(slot, e, number)
	}
	s := &p.slots.list[slot]
	p.present.join(&s.moment, e, number)
	for _, l := range s.lines {
		p.raw = append(p.raw, p.moved(l, e.line))
	}
}

// decide notes the other end of the message of an operation, and whether that decided when the operation ended: then the present point
// has this tail.
func (p *pass) decide(rank int, index uint32, message uint64, otherRank int, other uint32) {
	if p.record != nil {
		p.record.decide(rank, index, message, otherRank, other)
	}
	if p.paths != nil {
		p.paths.ranks[rank].end[index] = endWord(other, p.present.tail == message)
	}
}

// endWord is an entry of rankDecisions.end.
func endWord(other uint32, byMessage bool) uint32 {
	word := decided + other<<1
	if byMessage {
		word |= 1
	}
	return word
}

// release frees a slot.
func (p *pass) release(slot uint32) {
	if p.record != nil {
		p.record.release(slot)
	}
	p.slots.release(slot)
}

// end ends an operation: the present point is its end.
func (p *pass) end(rank int, i uint32) {
	r := &p.ranks[rank]
	number := p.s.fileNumber(rank, r.first+i, true)
	p.overflow |= p.present.at
	if p.present.at >= p.last.at {
		p.last.join(&p.present, &nothing, number)
	}
	after, ends := r.after(i)
	if ends == 0 {
		p.collect(r.end, &nothing, number)
	} else {
		for _, d := range after {
			if !d.OnStart() {
				p.push(r, rank, uint32(d.Index()), &nothing, number)
			}
		}
	}
	if r.open--; r.open == 0 {
		p.turn = append(p.turn, int32(rank))
	}
}

// resolve makes the point of a slot the present one, and frees the slot; 0 is the start of everything.
func (p *pass) resolve(slot uint32) {
	if slot == 0 {
		if p.record != nil {
			p.record.broken = true
		}
		p.present = atStart
		p.tidy(nil)
		return
	}
	if p.record != nil {
		p.record.resolve(slot)
	}
	p.present = p.slots.list[slot].moment
	p.tidy(p.slots.list[slot].lines)
	p.release(slot)
}
