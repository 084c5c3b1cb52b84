package simulate

// This file moves hosts of the lean core from one thread to another, with all that they have there:
// messages, operations, and what they wait for. One thread that carries out all hosts is then as fast as
// if there had never been others. It happens between two windows: no host is in the set of the present
// one, and nothing has yet to be collected.

// merge gives all hosts to this core, the first one, or gives the others theirs back.
func (l *lean) merge(all bool) bool {
	owners := dealHosts(len(l.hosts), 1)
	if !all {
		owners = l.shards[1].deal
	}
	cals := make([]*calendar, len(l.shards))
	for t, s := range l.shards {
		cals[t] = s.calendar
	}
	alignCalendars(cals) // before the hosts move: their messages of the next window are on a side of the calendar
	for r := range int32(len(l.hosts)) {
		if from, to := l.shards[l.deal.owner(r)], l.shards[owners.owner(r)]; from != to {
			from.move(r, to)
		}
	}
	dealCalendars(cals, &owners)
	l.deal = owners
	return all
}

// home is the core that has the hosts that were dealt to this one.
func (l *lean) home() *lean {
	if l.shards[0].deal.threads == 1 {
		return l.shards[0]
	}
	return l
}

// move gives a host of this core to another one, but for its place in the calendar.
func (l *lean) move(r int32, to *lean) {
	h := &l.hosts[r]
	from, box := &l.inbox[l.calendar.side^1][r], &l.inbox[to.calendar.side^1][r]
	list, _ := l.moveList(*from, to)
	*from = 0
	*box = list
	l.later[r], _ = l.moveList(l.later[r], to)
	h.queue, h.tail = l.moveList(h.queue, to)
	h.heap = l.moveHeap(h.heap, to, messageBefore)
	h.waiting = l.moveHeap(h.waiting, to, messageBorn)
	h.early, h.earlyTail = l.moveList(h.early, to)
	if h.recvs > 64 && h.recvd > 0 {
		l.moveTable(h, to)
	}
	if h.slotBits > 0 {
		l.moveSlot(h, to)
	}
	if h.graph {
		l.moveGraph(h, to)
	}
}

// moveList moves messages that are linked by next, in their order.
func (l *lean) moveList(m int32, to *lean) (first, last int32) {
	for m != 0 {
		n := l.msgs[m]
		l.freeMessage(m)
		m = n.next
		n.next, n.child = 0, 0
		i := to.newMessage()
		to.msgs[i] = n
		if last == 0 {
			first = i
		} else {
			to.msgs[last].next = i
		}
		last = i
	}
	return first, last
}

// moveHeap moves the messages of a heap. The form of a heap does not matter: the keys are all different.
func (l *lean) moveHeap(root int32, to *lean, less func(x, y *leanMessage) bool) int32 {
	list := int32(0)
	for m := root; m != 0; {
		n := &l.msgs[m]
		rest := n.next
		if c := n.child; c != 0 { // the children come before the rest
			last := c
			for l.msgs[last].next != 0 {
				last = l.msgs[last].next
			}
			l.msgs[last].next = rest
			rest = c
		}
		n.next = list
		list = m
		m = rest
	}
	list, _ = l.moveList(list, to)
	heap := int32(0)
	for list != 0 {
		m := list
		list = to.msgs[m].next
		to.msgs[m].next = 0
		heap = to.meld(heap, m, less)
	}
	return heap
}

func (l *lean) moveTable(h *leanHost, to *lean) {
	old := h.posted
	h.posted = uint64(to.newTable())
	to.tables[h.posted], l.tables[old] = l.tables[old], leanTable{}
	l.noTable = append(l.noTable, int32(old))
}

// moveSlot moves the operations of a host, and the links of a graph.
func (l *lean) moveSlot(h *leanHost, to *lean) {
	old := *h
	size := uint32(1) << (h.slotBits - 1)
	h.slotBits = 0
	to.newSlot(h, int(size))
	copy(to.ops[h.slot:h.slot+size], l.ops[old.slot:old.slot+size])
	if h.graph {
		to.growLinks()
		copy(to.linksOf(h)[:linksPerOp*size], l.linksOf(&old))
	}
	l.freeSlotOf(&old)
}

func (l *lean) moveGraph(h *leanHost, to *lean) {
	old := h.sent
	h.sent = to.newGraph()
	g := &to.graphs[h.sent]
	*g = l.graphs[old]
	l.noGraph = append(l.noGraph, old)
	for kind := range g.born {
		for next := &g.born[kind].next; *next != 0; {
			i := *next
			b := l.batches[i]
			l.batches[i].next = l.freeBatch
			l.freeBatch = i
			to.newBatch(b, next)
			next = &to.batches[*next].next
		}
	}
}
