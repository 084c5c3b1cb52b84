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

	messages bool // the entries are messages
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

// queueKey is a source and a tag with a context; both may be wildcards.
type queueKey struct {
	source int32
	tag    uint32
	ctx    uint8
}

// fits returns the keys of the receives that accept a message of key k, or the other way round, the
// keys under which a message can be found.
func (k queueKey) fits() [4]queueKey {
	return [4]queueKey{
		k,
		{k.source, schedule.AnyTag, k.ctx},
		{schedule.AnySource, k.tag, k.ctx},
		{schedule.AnySource, schedule.AnyTag, k.ctx},
	}
}

// queueIndex finds entries by key, oldest first, by their number: the position in items plus the
// number of those dropped in front. A receive is under its own key; a message is under all
// keys of receives that accept it, and when one of them takes it, the others notice later.
type queueIndex struct {
	dropped int
	lists   map[queueKey]*queueList
	size    int // numbers in all lists
}

// queueList is the numbers of the entries of a key, oldest first; some may be gone.
type queueList struct {
	numbers []int
	head    int
}

func (q *queue) len() int { return q.live }

// pushReceive appends a receive to a queue of receives.
func (q *queue) pushReceive(it item) {
	q.push(it)
	if q.index != nil {
		q.index.add(it.key(), q.lastNumber())
	}
}

// pushMessage appends a message to a queue of messages.
func (q *queue) pushMessage(it item) {
	q.messages = true
	q.push(it)
	if q.index != nil {
		for _, k := range it.key().fits() {
			q.index.add(k, q.lastNumber())
		}
	}
}

func (q *queue) push(it item) {
	if q.live >= indexFrom && (q.index == nil || q.index.size > 16*q.live+4096) {
		q.buildIndex() // or build it again, without what is gone
	}
	if q.head == len(q.items) && q.index == nil {
		q.items, q.head = q.items[:0], 0
	}
	q.items = append(q.items, it)
	q.live++
}

func (q *queue) lastNumber() int { return q.index.dropped + len(q.items) - 1 }

func (it *item) key() queueKey { return queueKey{it.source, it.tag, it.ctx} }

func (x *queueIndex) add(k queueKey, number int) {
	list := x.lists[k]
	if list == nil {
		list = &queueList{}
		x.lists[k] = list
	}
	list.numbers = append(list.numbers, number)
	x.size++
}

func (q *queue) buildIndex() {
	q.items = append(q.items[:0], q.list()...)
	q.head = 0
	q.index = &queueIndex{lists: make(map[queueKey]*queueList)}
	for i := range q.items {
		k := q.items[i].key()
		if !q.messages {
			q.index.add(k, i)
			continue
		}
		for _, k := range k.fits() {
			q.index.add(k, i)
		}
	}
}

// oldest returns the number of the oldest entry of a key, or -1.
func (q *queue) oldest(k queueKey) int {
	list := q.index.lists[k]
	if list == nil {
		return -1
	}
	for list.head < len(list.numbers) && q.removed(list.numbers[list.head]) {
		list.head++
	}
	if list.head == len(list.numbers) {
		delete(q.index.lists, k)
		return -1
	}
	return list.numbers[list.head]
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
	best := -1
	for _, k := range (queueKey{source, tag, ctx}).fits() {
		if n := q.oldest(k); n >= 0 && (best < 0 || n < best) {
			best = n
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
	if q.index != nil {
		if n := q.oldest(queueKey{source, tag, ctx}); n >= 0 {
			return q.removeLong(n), true
		}
		return 0, false
	}
	anySource, anyTag := source == schedule.AnySource, tag == schedule.AnyTag
	for i := q.head; i < len(q.items); i++ {
		it := &q.items[i]
		if it.ctx == ctx && (anySource || it.source == source) && (anyTag || it.tag == tag) {
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

// removeLong removes an entry of a queue with index, by its number. The index notices it when it
// comes across the entry.
func (q *queue) removeLong(number int) int32 {
	x := q.index
	it := &q.items[number-x.dropped]
	id := it.id
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
