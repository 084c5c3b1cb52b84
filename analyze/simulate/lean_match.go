package simulate

import "math/bits"

// This file holds the matching of the lean core: posted receives and unexpected messages.

// leanTable finds posted receives by source and tag when a phase has more than 64 of them. All
// receives of a phase are posted at once, in order, and later only removed, so that linear probing
// finds equal ones oldest first.
type leanTable struct {
	slots []uint32 // receive plus 1; 0: empty; goneSlot: removed
	left  int
}

const goneSlot = ^uint32(0)

// postAll makes all receives of the phase wait for messages.
func (l *lean) postAll(h *leanHost) {
	n := int(h.recvs)
	if n <= 64 {
		h.posted = ^uint64(0) >> (64 - n)
		return
	}
	i := l.newTable()
	h.posted = uint64(i)
	t := &l.tables[i]
	size := 2 << bits.Len(uint(n))
	if len(t.slots) != size {
		t.slots = make([]uint32, size)
	} else {
		clear(t.slots)
	}
	t.left = n
	for i := range n {
		op := l.recv(h, i)
		s := t.home(op.peer, op.tag)
		for t.slots[s] != 0 {
			s = (s + 1) & uint32(size-1)
		}
		t.slots[s] = uint32(i) + 1
	}
}

func (l *lean) newTable() int {
	if k := len(l.noTable); k > 0 {
		i := int(l.noTable[k-1])
		l.noTable = l.noTable[:k-1]
		return i
	}
	l.tables = append(l.tables, leanTable{})
	return len(l.tables) - 1
}

func (t *leanTable) home(peer int32, tag uint32) uint32 {
	x := (uint64(uint32(peer))<<32 | uint64(tag)) * 0x9E3779B97F4A7C15
	return uint32(x>>32) & uint32(len(t.slots)-1)
}

// dropTable gives the table of a host back.
func (l *lean) dropTable(h *leanHost) {
	if h.recvd > 0 {
		l.noTable = append(l.noTable, int32(h.posted))
	}
	h.posted = 0
}

// waitingReceives is the number of posted receives that have not been matched.
func (l *lean) waitingReceives(h *leanHost) int {
	switch {
	case h.recvd == 0:
		return 0
	case h.recvs <= 64:
		return bits.OnesCount64(h.posted)
	}
	return l.tables[h.posted].left
}

// matchPosted removes the oldest posted receive that accepts a message, if there is one.
func (l *lean) matchPosted(h *leanHost, n *leanMessage) bool {
	if h.recvd == 0 {
		return false
	}
	if h.recvs <= 64 {
		for b := h.posted; b != 0; b &= b - 1 {
			op := l.recv(h, bits.TrailingZeros64(b))
			if op.peer == n.from && op.tag == n.tag && sameContext(op.load, n.load) {
				h.posted &^= b & -b
				return true
			}
		}
		return false
	}
	t := &l.tables[h.posted]
	for s := t.home(n.from, n.tag); t.slots[s] != 0; s = (s + 1) & uint32(len(t.slots)-1) {
		if t.slots[s] == goneSlot {
			continue
		}
		op := l.recv(h, int(t.slots[s]-1))
		if op.peer == n.from && op.tag == n.tag && sameContext(op.load, n.load) {
			t.slots[s] = goneSlot
			t.left--
			return true
		}
	}
	return false
}

// addEarly puts a message that found no receive at the end of the unexpected ones, with the time
// at which its CPU work ends.
func (l *lean) addEarly(r int32, h *leanHost, m int32, end int64) {
	n := &l.msgs[m]
	n.time, n.next = end, 0
	if h.early == 0 {
		h.early = m
	} else {
		l.msgs[h.earlyTail].next = m
	}
	h.earlyTail = m
	l.left++
	l.earlyCount[r]++
	l.stats.MaxUnexpected = max(l.stats.MaxUnexpected, int(l.earlyCount[r]))
}

// matchEarly matches the receives that have just been posted at t with unexpected messages.
func (l *lean) matchEarly(r int32, h *leanHost, t int64) {
	// The next phase may begin in the middle of the walk; its receives are not posted yet, and
	// the messages that are left stay as they are.
	birth, gen := h.birth, h.gen
	keep, last := int32(0), int32(0)
	open := h.open
	finish := h.finish
	matched := int32(0)
	for m := h.early; m != 0; {
		n := &l.msgs[m]
		next := n.next
		if l.matchPosted(h, n) {
			matched++
			l.left--
			finish = max(finish, max(t, n.time))
			if l.isLarge(n) {
				l.release(r, m, t, birth, gen)
			} else {
				l.freeMessage(m)
			}
		} else {
			if keep == 0 {
				keep = m
			} else {
				l.msgs[last].next = m
			}
			last = m
		}
		m = next
	}
	if last != 0 {
		l.msgs[last].next = 0
	}
	h.early, h.earlyTail = keep, last
	l.earlyCount[r] -= matched
	l.stats.MaxPosted = max(l.stats.MaxPosted, l.waitingReceives(h))
	if matched == 0 {
		return
	}
	h.finish = finish
	h.open = open - matched + 1
	l.finishOp(r, h, finish, t, birth, gen)
}

func (l *lean) isLarge(n *leanMessage) bool {
	return l.rendezvous && waitedFor(n.load, l.cost(n.load))
}
