package simulate

import "slackline/model/machine"

// This file holds the rules of the model in the lean core. A function named after an event carries
// it out on a host at time t.

// cost returns the cost of a message with the given load. It is valid until the next call.
func (l *lean) cost(load uint64) *machine.Cost {
	if load != l.lastLoad {
		l.lastLoad = load
		l.lastCost = *l.costs.of(leanClass(load), leanSize(load))
	}
	return &l.lastCost
}

// cpuEnd is rule R8.
func (l *lean) cpuEnd(r int32, t, work int64) int64 {
	if l.noise == nil {
		return l.add(t, work)
	}
	var end int64
	if l.positions == nil {
		end = l.noise.Finish(int(r+l.firstRank), t, work, &l.hints[r])
	} else {
		end = l.noise.Advance(int(r+l.firstRank), t, work, &l.positions[r], &l.hints[r])
	}
	if end < 0 {
		l.overflow = true
		return never
	}
	return end
}

func (l *lean) add(a, b int64) int64 {
	if s := a + b; s >= 0 {
		return s
	}
	l.overflow = true
	return never
}

// calc is rule R4.
func (l *lean) calc(r int32, h *leanHost, t int64) {
	index := h.sends + h.calced
	if h.graph {
		index = l.takeReady(h, opCalc)
	} else {
		h.calced++
	}
	op := &l.ops[h.slot+uint32(index)]
	work := int64(op.load)
	end := l.cpuEnd(r, t, work)
	h.nexto = end
	l.stats.ops++
	if l.breakdown != nil {
		l.breakdown[r].compute += work
		l.breakdown[r].noise += end - t - work
	}
	if h.graph {
		l.settle(r, h, 1<<index, 1<<index, t, h.birth, h.gen)
		return
	}
	l.finishOp(r, h, end, t, h.birth, h.gen)
}

// send is rule R5.
func (l *lean) send(r int32, h *leanHost, t int64) {
	index := h.sent
	if h.graph {
		index = l.takeReady(h, opSend)
	} else {
		h.sent++
	}
	op := l.ops[h.slot+uint32(index)]
	load := op.load
	if !l.uniform {
		load |= uint64(l.layout.Class(int(r+l.firstRank), int(op.peer))) << classShift
	} else {
		load |= uint64(l.class) << classShift
	}
	c := l.cost(load)
	if c.Overflow {
		l.overflow = true
	}
	left := l.cpuEnd(r, t, c.Overhead)
	end := left
	if c.CPUBytes != 0 {
		end = l.cpuEnd(r, left, c.CPUBytes)
	}
	arrival := l.add(left, c.Latency)
	h.nexto = end
	h.nextgs = l.add(t, l.add(c.Gap, c.Bytes))
	l.stats.ops++
	l.stats.messages++
	if l.breakdown != nil {
		l.breakdown[r].overhead += c.Overhead + c.CPUBytes
		l.breakdown[r].noise += end - t - c.Overhead - c.CPUBytes
	}
	gen := uint32(0)
	if h.birth == t {
		gen = h.gen + 1
	}
	m := l.newMessage()
	n := &l.msgs[m]
	n.time, n.birth, n.load, n.order = arrival, t, load, leanOrder(gen, kindMessage)
	n.from, n.index, n.tag = r+l.firstRank, index, op.tag
	l.deliver(r, op.peer-l.firstRank, m)
	if waitedFor(load, c) {
		l.stats.Rendezvous++
		if l.large == nil {
			l.sawLarge = true
			return
		}
		l.large.started(r, arrival)
		if h.graph {
			l.large.hosts[r].graph |= 1 << index
			l.settle(r, h, 1<<index, 0, t, h.birth, h.gen)
		}
		return
	}
	if h.graph {
		l.settle(r, h, 1<<index, 1<<index, t, h.birth, h.gen)
		return
	}
	l.finishOp(r, h, end, t, h.birth, h.gen)
}

// message is rule R6.
func (l *lean) message(r int32, h *leanHost, m int32, t int64) {
	n := &l.msgs[m]
	if n.order&3 == kindRelease {
		l.released(r, h, m, t)
		return
	}
	c := l.cost(n.load)
	var end int64
	if l.noise == nil {
		end = l.add(t, l.add(max(c.CPUBytes, c.Bytes), c.Overhead))
	} else {
		x := l.add(t, c.Bytes)
		if c.CPUBytes != 0 {
			x = max(x, l.cpuEnd(r, t, c.CPUBytes))
		}
		end = l.cpuEnd(r, x, c.Overhead)
	}
	h.nexto = end
	h.nextgr = l.add(t, l.add(c.Gap, c.Bytes))
	if l.breakdown != nil {
		work := max(c.CPUBytes, c.Bytes) + c.Overhead
		l.breakdown[r].overhead += work
		l.breakdown[r].noise += end - t - work
	}
	found, matched := uint64(0), false
	if h.graph {
		found = l.matchInGraph(h, n)
		matched = found != 0
	} else {
		matched = l.matchPosted(h, n)
	}
	if !matched {
		l.stats.Unexpected++
		l.addEarly(r, h, m, end)
		return
	}
	l.stats.Expected++
	birth, gen := n.birth, n.order>>2
	if waitedFor(n.load, c) {
		l.release(r, m, t, birth, gen)
	} else {
		l.freeMessage(m)
	}
	if found != 0 {
		l.settle(r, h, 0, found, t, birth, gen)
		return
	}
	l.finishOp(r, h, end, t, birth, gen)
}

// receive is rule R7 for all receives of the phase: nothing can happen between them. Without
// wildcards it is the same whether each receive looks for its oldest message or each message,
// oldest first, for its receive.
func (l *lean) receive(r int32, h *leanHost, t int64) {
	if h.graph {
		l.receiveInGraph(r, h, t)
		return
	}
	h.recvd = h.recvs
	l.stats.ops += int64(h.recvs)
	l.postAll(h)
	if h.early != 0 {
		l.matchEarly(r, h, t)
		return
	}
	l.stats.MaxPosted = max(l.stats.MaxPosted, int(h.recvs))
}

// finishOp notes the finish of an operation in an event with the given time, birth and
// generation, and goes on to the next phase if it was the last one.
func (l *lean) finishOp(r int32, h *leanHost, finish, t, birth int64, gen uint32) {
	h.finish = max(h.finish, finish)
	h.open--
	if h.open == 0 || l.large != nil {
		l.finishPhase(r, h, t, birth, gen)
	}
}

// finishPhase is the rest of finishOp for the last operation of a phase, and for all of them where
// there are large messages.
func (l *lean) finishPhase(r int32, h *leanHost, t, birth int64, gen uint32) {
	if l.large != nil {
		l.large.note(r, &t, &birth, &gen)
	}
	if h.open == 0 {
		l.nextPhase(r, h, t, birth, gen)
	}
}
