package simulate

import "context"

// runEvents is the event engine: one queue of all hosts by the key of their next event, one event
// at a time. It needs no window, so it takes what the window engine cannot: rendezvous in graphs,
// o + L = 0.
func runEvents(ctx context.Context, g *general, tick func(now, messages int64)) error {
	q := newHostQueue(g)
	var touched []int32
	g.deliver = func(host, i int32) {
		g.insert(host, i)
		touched = append(touched, host)
	}
	for rank := range int32(g.ranks) {
		g.start(rank)
	}
	for h := range int32(g.hosts) {
		q.update(h)
	}
	for count := 0; ; count++ {
		h, e, ok := q.top()
		if !ok || g.overflow {
			return nil
		}
		g.take(h, e.node, e.class)
		g.carryOut(h, e.node, e.time)
		q.update(h)
		for _, t := range touched {
			q.update(t)
		}
		touched = touched[:0]
		if count&(1<<16-1) == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			tick(e.time, g.stats.messages)
		}
	}
}

// hostQueue is a binary heap of the hosts that have a next event, by its key.
type hostQueue struct {
	g     *general
	heap  []int32
	place []int32 // by host: position in heap, -1: not in it
	next  []nextEvent
}

// nextEvent is what general.next has found, with the key.
type nextEvent struct {
	time, birth int64
	who, what   uint64
	node        int32
	class       int
}

func newHostQueue(g *general) *hostQueue {
	q := &hostQueue{g: g, place: make([]int32, g.hosts), next: make([]nextEvent, g.hosts)}
	for h := range q.place {
		q.place[h] = -1
	}
	return q
}

// top returns the host with the first event.
func (q *hostQueue) top() (int32, nextEvent, bool) {
	if len(q.heap) == 0 {
		return 0, nextEvent{}, false
	}
	h := q.heap[0]
	return h, q.next[h], true
}

// update looks up the next event of a host again.
func (q *hostQueue) update(h int32) {
	i, at, class := q.g.next(h)
	p := q.place[h]
	if i == 0 || at == never {
		if p >= 0 {
			q.remove(p)
		}
		return
	}
	n := &q.g.nodes[i]
	q.next[h] = nextEvent{at, n.birth, n.who, n.what, i, class}
	if p < 0 {
		p = int32(len(q.heap))
		q.heap = append(q.heap, h)
		q.place[h] = p
	}
	q.down(q.up(p))
}

func (q *hostQueue) remove(p int32) {
	last := int32(len(q.heap) - 1)
	q.place[q.heap[p]] = -1
	moved := q.heap[last]
	q.heap = q.heap[:last]
	if p < last {
		q.heap[p] = moved
		q.place[moved] = p
		q.down(q.up(p))
	}
}

func (q *hostQueue) less(a, b int32) bool {
	x, y := &q.next[a], &q.next[b]
	if x.time != y.time {
		return x.time < y.time
	}
	if x.birth != y.birth {
		return x.birth < y.birth
	}
	if x.who != y.who {
		return x.who < y.who
	}
	return x.what < y.what
}

func (q *hostQueue) up(p int32) int32 {
	h := q.heap[p]
	for p > 0 {
		parent := (p - 1) / 2
		if !q.less(h, q.heap[parent]) {
			break
		}
		q.heap[p] = q.heap[parent]
		q.place[q.heap[p]] = p
		p = parent
	}
	q.heap[p] = h
	q.place[h] = p
	return p
}

func (q *hostQueue) down(p int32) {
	h, n := q.heap[p], int32(len(q.heap))
	for {
		c := 2*p + 1
		if c >= n {
			break
		}
		if c+1 < n && q.less(q.heap[c+1], q.heap[c]) {
			c++
		}
		if !q.less(q.heap[c], h) {
			break
		}
		q.heap[p] = q.heap[c]
		q.place[q.heap[p]] = p
		p = c
	}
	q.heap[p] = h
	q.place[h] = p
}
