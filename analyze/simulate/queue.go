package simulate

import "slackline/model/schedule"

// queue is a FIFO list that is searched for the oldest entry that fits: posted receives, or
// unexpected messages. Short queues are searched as they are; a long one keeps an index, so that
// a root with thousands of receives costs no more per message than one with two.
type queue struct {
	items []item // items[head:] are in order; removed ones in between have id gone
	head  int
	live  int
	index *queueIndex // nil while the queue is short
}

// item is a posted receive (id: operation) or an unexpected message (id: node).
type item struct {
	source int32 // a receive may have schedule.AnySource
	tag    uint32
	id     int32
	ctx    uint8
}

const gone = int32(-1)

// indexFrom is the length at which a queue gets an index.
const indexFrom = 32

type queueKey struct {
	source int32
	tag    uint32
	ctx    uint8
}

// queueIndex finds the entries with a given source and tag, oldest first, by their number: the
// position in items plus the number of those dropped in front.
type queueIndex struct {
	dropped int
	exact   map[queueKey][]int
	wild    []int // receives with a wildcard, oldest first; some may be gone
}

func (q *queue) len() int { return q.live }

func (q *queue) push(it item) {
	if q.head == len(q.items) && q.index == nil {
		q.items, q.head = q.items[:0], 0
	}
	q.items = append(q.items, it)
	q.live++
	if q.index != nil {
		q.index.add(it, q.index.dropped+len(q.items)-1)
	} else if q.live >= indexFrom {
		q.buildIndex()
	}
}

func (it *item) wildcard() bool {
	return it.source == schedule.AnySource || it.tag == schedule.AnyTag
}

func (x *queueIndex) add(it item, number int) {
	if it.wildcard() {
		x.wild = append(x.wild, number)
		return
	}
	k := queueKey{it.source, it.tag, it.ctx}
	x.exact[k] = append(x.exact[k], number)
}

func (q *queue) buildIndex() {
	q.items = append(q.items[:0], q.items[q.head:]...)
	q.head = 0
	q.index = &queueIndex{exact: make(map[queueKey][]int)}
	for i, it := range q.items {
		q.index.add(it, i)
	}
}

// takeReceive removes the oldest receive that accepts a message and returns its operation.
func (q *queue) takeReceive(source int32, tag uint32, ctx uint8) (int32, bool) {
	if q.index == nil {
		for i := q.head; i < len(q.items); i++ {
			it := &q.items[i]
			if it.ctx == ctx && (it.source == source || it.source == schedule.AnySource) &&
				(it.tag == tag || it.tag == schedule.AnyTag) {
				return q.removeShort(i), true
			}
		}
		return 0, false
	}
	x := q.index
	best := -1
	if list := x.exact[queueKey{source, tag, ctx}]; len(list) > 0 {
		best = list[0]
	}
	for len(x.wild) > 0 && q.removed(x.wild[0]) {
		x.wild = x.wild[1:]
	}
	for _, n := range x.wild {
		if best >= 0 && n > best {
			break
		}
		if q.removed(n) {
			continue
		}
		it := &q.items[n-x.dropped]
		if it.ctx == ctx && (it.source == source || it.source == schedule.AnySource) &&
			(it.tag == tag || it.tag == schedule.AnyTag) {
			best = n
			break
		}
	}
	if best < 0 {
		return 0, false
	}
	return q.removeLong(best), true
}

// takeMessage removes the oldest message that a receive accepts and returns its node.
func (q *queue) takeMessage(source int32, tag uint32, ctx uint8) (int32, bool) {
	if q.live == 0 {
		return 0, false
	}
	anySource, anyTag := source == schedule.AnySource, tag == schedule.AnyTag
	if q.index != nil && !anySource && !anyTag {
		if list := q.index.exact[queueKey{source, tag, ctx}]; len(list) > 0 {
			return q.removeLong(list[0]), true
		}
		return 0, false
	}
	for i := q.head; i < len(q.items); i++ {
		it := &q.items[i]
		if it.id != gone && it.ctx == ctx && (anySource || it.source == source) && (anyTag || it.tag == tag) {
			if q.index != nil {
				return q.removeLong(i + q.index.dropped), true
			}
			return q.removeShort(i), true
		}
	}
	return 0, false
}

// removed reports whether the entry with this number is no longer there.
func (q *queue) removed(number int) bool {
	i := number - q.index.dropped
	return i < 0 || q.items[i].id == gone
}

// removeShort removes an entry of a queue without index.
func (q *queue) removeShort(i int) int32 {
	id := q.items[i].id
	copy(q.items[q.head+1:i+1], q.items[q.head:i])
	q.head++
	q.live--
	return id
}

// removeLong removes an entry of a queue with index, by its number. The entry is the oldest of
// its source and tag, if it has no wildcard.
func (q *queue) removeLong(number int) int32 {
	x := q.index
	it := &q.items[number-x.dropped]
	id := it.id
	if !it.wildcard() {
		k := queueKey{it.source, it.tag, it.ctx}
		if list := x.exact[k]; len(list) == 1 {
			delete(x.exact, k)
		} else {
			x.exact[k] = list[1:]
		}
	}
	it.id = gone
	q.live--
	for q.head < len(q.items) && q.items[q.head].id == gone {
		q.head++
	}
	switch {
	case q.live == 0:
		q.items, q.head, q.index = q.items[:0], 0, nil
	case q.head > len(q.items)/2:
		x.dropped += q.head
		q.items = append(q.items[:0], q.items[q.head:]...)
		q.head = 0
	}
	return id
}

// list returns the live entries, oldest first.
func (q *queue) list() []item {
	var out []item
	for _, it := range q.items[q.head:] {
		if it.id != gone {
			out = append(out, it)
		}
	}
	return out
}
