package simulate

// This file holds the order of events of the general core: the key of section "order of events"
// of the model, heaps over it, and the choice of the next event of a host.

// waitClass is the set of waiting events of a host that need the same resources.
type waitClass struct {
	kind     uint8 // waitCalc, waitSend, waitMessage
	cpu, nic uint8
	rank     int32
	heap     int32 // ordered without the time
}

const (
	waitCalc = iota
	waitSend
	waitMessage
)

// before orders events by their full key.
func before(a, b *node) bool {
	if a.time != b.time {
		return a.time < b.time
	}
	return bornBefore(a, b)
}

// bornBefore orders events by their key without the time.
func bornBefore(a, b *node) bool {
	if a.birth != b.birth {
		return a.birth < b.birth
	}
	if a.who != b.who {
		return a.who < b.who
	}
	return a.what < b.what
}

// The heaps are pairing heaps over the links of the nodes; 0 is the empty heap.

func (g *general) meld(a, b int32, less func(x, y *node) bool) int32 {
	if a == 0 {
		return b
	}
	if b == 0 {
		return a
	}
	if less(&g.nodes[b], &g.nodes[a]) {
		a, b = b, a
	}
	g.nodes[b].next = g.nodes[a].child
	g.nodes[a].child = b
	return a
}

// popHeap removes the root of a heap and returns the new one.
func (g *general) popHeap(root int32, less func(x, y *node) bool) int32 {
	// Meld the children in pairs from left to right, then the pairs from right to left.
	pairs := int32(0)
	for c := g.nodes[root].child; c != 0; {
		d := g.nodes[c].next
		g.nodes[c].next = 0
		if d == 0 {
			g.nodes[c].next = pairs
			pairs = c
			break
		}
		rest := g.nodes[d].next
		g.nodes[d].next = 0
		m := g.meld(c, d, less)
		g.nodes[m].next = pairs
		pairs = m
		c = rest
	}
	result := int32(0)
	for pairs != 0 {
		rest := g.nodes[pairs].next
		g.nodes[pairs].next = 0
		result = g.meld(result, pairs, less)
		pairs = rest
	}
	g.nodes[root].child = 0
	return result
}

// insert puts an event among the future events of a host.
func (g *general) insert(host, i int32) {
	n := &g.nodes[i]
	n.child, n.next = 0, 0
	g.future[host] = g.meld(g.future[host], i, before)
}

// freeAt returns when the resources that an event needs are free; ok is false if it needs none.
func (g *general) freeAt(host int32, n *node) (at int64, kind uint8, ok bool) {
	switch n.kind() {
	case kindRelease:
		return 0, 0, false
	case kindMessage:
		return max(g.nexto[int(n.rank())*g.cpus+int(n.cpu)], g.nextgr[int(host)*g.nics+int(n.nic)]), waitMessage, true
	}
	switch n.a() {
	case opSend:
		return max(g.nexto[int(n.rank())*g.cpus+int(n.cpu)], g.nextgs[int(host)*g.nics+int(n.nic)]), waitSend, true
	case opCalc:
		return g.nexto[int(n.rank())*g.cpus+int(n.cpu)], waitCalc, true
	}
	return 0, 0, false
}

// classFreeAt returns when the resources of a wait class are free.
func (g *general) classFreeAt(host int32, w *waitClass) int64 {
	t := g.nexto[int(w.rank)*g.cpus+int(w.cpu)]
	switch w.kind {
	case waitSend:
		t = max(t, g.nextgs[int(host)*g.nics+int(w.nic)])
	case waitMessage:
		t = max(t, g.nextgr[int(host)*g.nics+int(w.nic)])
	}
	return t
}

// next finds the next event of a host: its node, the time at which it happens, and the wait class
// in which it is (-1: it is the first of the future events). Without any the node is 0.
func (g *general) next(host int32) (i int32, at int64, class int) {
	class = -1
	for {
		i = g.future[host]
		if i == 0 {
			break
		}
		n := &g.nodes[i]
		free, kind, ok := g.freeAt(host, n)
		if !ok || free <= n.time {
			at = n.time
			break
		}
		g.future[host] = g.popHeap(i, before)
		g.wait(host, i, kind)
	}
	for c := range g.waiting[host] {
		w := &g.waiting[host][c]
		t := g.classFreeAt(host, w)
		if i == 0 || t < at || t == at && bornBefore(&g.nodes[w.heap], &g.nodes[i]) {
			i, at, class = w.heap, t, c
		}
	}
	return i, at, class
}

// wait puts an event into the wait class of its resources.
func (g *general) wait(host, i int32, kind uint8) {
	n := &g.nodes[i]
	n.child, n.next = 0, 0
	nic := n.nic
	if kind == waitCalc {
		nic = 0
	}
	list := g.waiting[host]
	for c := range list {
		w := &list[c]
		if w.kind == kind && w.rank == n.rank() && w.cpu == n.cpu && w.nic == nic {
			w.heap = g.meld(w.heap, i, bornBefore)
			return
		}
	}
	g.waiting[host] = append(list, waitClass{kind: kind, cpu: n.cpu, nic: nic, rank: n.rank(), heap: i})
}

// take removes the event that next has found and returns its node, which the caller frees.
func (g *general) take(host, i int32, class int) {
	if class < 0 {
		g.future[host] = g.popHeap(i, before)
		return
	}
	list := g.waiting[host]
	w := &list[class]
	w.heap = g.popHeap(i, bornBefore)
	if w.heap == 0 {
		list[class] = list[len(list)-1]
		g.waiting[host] = list[:len(list)-1]
	}
}
