package simulate

import (
	"math/bits"

	"slackline/model/schedule"
)

// This file holds how a host of the lean core gets its next phase, and the slots in which the
// operations of phases are kept.

// nextPhase loads the next phase of a rank, which the event at time t made ready.
func (l *lean) nextPhase(r int32, h *leanHost, t, birth int64, gen uint32) {
	if h.recvs > 64 {
		l.dropTable(h)
	}
	if h.graph {
		l.dropGraph(h)
	}
	if l.exchanges != nil {
		if x, next, ok := l.exchanges.NextExchange(int(r+l.firstRank), h.cursor, &l.block); ok && h.slotBits > 1 {
			h.cursor = next
			l.fillExchange(h, &x)
			l.beginPhase(r, h, 2, t, birth, gen)
			return
		}
	}
	at, ok := l.stream.Next(int(r+l.firstRank), h.cursor, &l.block)
	h.cursor = at
	if !ok {
		h.sends, h.recvs, h.calcs, h.sent, h.recvd, h.calced = 0, 0, 0, 0, 0, 0
		l.running--
		return
	}
	if l.block.Borrowed() {
		l.touch(&l.block)
	}
	if len(l.block.Dependents) > 0 {
		next := uint32(0)
		if birth == t {
			next = gen + 1
		}
		l.loadGraph(r, h, t, next)
		return
	}
	l.fillSlot(h, l.block.Ops)
	l.beginPhase(r, h, len(l.block.Ops), t, birth, gen)
}

// beginPhase makes the operations in the slot of a host ready.
func (l *lean) beginPhase(r int32, h *leanHost, ops int, t, birth int64, gen uint32) {
	h.post = max(h.finish, h.nexto)
	h.finish = 0
	h.birth = t
	h.gen = 0
	if birth == t {
		h.gen = gen + 1
	}
	h.open = int32(ops)
	h.sent, h.recvd, h.calced = 0, 0, 0
	if l.large != nil {
		l.large.newPhase(r)
	}
}

const (
	noSlot      = ^uint32(0)
	maxSlotBits = 32
)

// fillSlot copies the operations of a phase into the slot of a host.
func (l *lean) fillSlot(h *leanHost, ops []schedule.Op) {
	n := len(ops)
	if h.slotBits == 0 || n > 1<<(h.slotBits-1) {
		l.newSlot(h, n)
	}
	// Sends from the front, receives from the back, calculations between them.
	slot := l.ops[h.slot : h.slot+uint32(n)]
	s, r := 0, n
	for i := range ops {
		op := &ops[i]
		switch op.Kind {
		case schedule.Send:
			if op.Size > sizeMask {
				l.unfit = true
			}
			to := &slot[s]
			to.load, to.peer, to.tag = uint64(op.Size)&sizeMask|uint64(op.Context)<<contextShift, op.Peer, op.Tag
			s++
		case schedule.Recv:
			r--
			to := &slot[r]
			to.load, to.peer, to.tag = uint64(op.Context)<<contextShift, op.Peer, op.Tag
		}
	}
	h.sends, h.recvs, h.calcs = int32(s), int32(n-r), int32(r-s)
	if s == r {
		return
	}
	for i := range ops {
		if ops[i].Kind == schedule.Calc {
			slot[s].load = uint64(ops[i].Size)
			s++
		}
	}
}

// fillExchange is fillSlot for one send and one receive.
func (l *lean) fillExchange(h *leanHost, x *schedule.Exchange) {
	if x.Size > sizeMask {
		l.unfit = true
	}
	slot := l.ops[h.slot : h.slot+2]
	context := uint64(x.Context) << contextShift
	slot[0].load, slot[0].peer, slot[0].tag = uint64(x.Size)&sizeMask|context, x.To, x.Tag
	slot[1].load, slot[1].peer, slot[1].tag = context, x.From, x.Tag
	h.sends, h.recvs, h.calcs = 1, 1, 0
}

// recv returns the i-th receive of the phase of a host.
func (l *lean) recv(h *leanHost, i int) *leanOp {
	return &l.ops[h.slot+uint32(h.sends+h.calcs+h.recvs)-1-uint32(i)]
}

// newSlot gives a host a slot for n operations and takes the old one back.
func (l *lean) newSlot(h *leanHost, n int) {
	if h.slotBits > 0 {
		l.freeSlotOf(h)
	}
	b := max(bits.Len(uint(n-1)), 1)
	h.slotBits = uint8(b) + 1
	if s := l.freeSlot[b]; s != noSlot {
		h.slot = s
		l.freeSlot[b] = uint32(l.ops[s].load)
		return
	}
	if len(l.ops)+1<<b > 1<<31 {
		l.unfit = true
	}
	h.slot = uint32(len(l.ops))
	l.ops = doubled(l.ops, 1<<b)
	l.ops = l.ops[:len(l.ops)+1<<b]
}

func (l *lean) freeSlotOf(h *leanHost) {
	l.ops[h.slot].load = uint64(l.freeSlot[h.slotBits-1])
	l.freeSlot[h.slotBits-1] = h.slot
}
