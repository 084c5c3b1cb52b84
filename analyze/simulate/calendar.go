package simulate

import (
	"math/bits"
)

// calendar lists in which window which host of a thread has something to do. Hosts of the present
// and of the next window are in bitmaps, those of the next thousand windows in the lists of a
// wheel, those of the next thousand turns of it in the lists of another one, all others in a heap, so that
// idle hosts and empty windows cost nothing. A host may be called for nothing, and more than once; that
// does no harm.
type calendar struct {
	width   int64 // of a window
	window  int64 // the present one
	thisEnd int64 // end of it
	nextEnd int64 // end of the window after it

	now, soon hostSet
	side      int // changes when the next window becomes the present one

	wheel    [wheelSize]int32 // heads of lists of entries
	filled   [wheelSize / 64]uint64
	turns    [wheelSize]turnList // by window / wheelSize; see bringTurn
	turnsSet [wheelSize / 64]uint64
	entries  []wheelEntry // of both wheels; number 0 is none
	free     int32

	far minHeap[farEntry]

	first int64 // window of the first entry of the wheels and the heap; never: there is none
}

const wheelSize = 1024

// turnList is the entries of a turn of the wheel.
type turnList struct {
	head  int32
	first int64 // window of the first of them
}

type wheelEntry struct {
	farEntry
	next int32
}

type farEntry struct {
	window int64
	host   int32
}

func newCalendar(hosts int, width int64) *calendar {
	c := &calendar{width: width, now: newHostSet(hosts), soon: newHostSet(hosts), first: never}
	c.entries = make([]wheelEntry, 1)
	c.far.less = func(a, b *farEntry) bool { return a.window < b.window }
	c.thisEnd, c.nextEnd = windowEnd(0, width), windowEnd(1, width)
	return c
}

// windowEnd returns the end of a window, or never if it does not fit.
func windowEnd(window, width int64) int64 {
	hi, lo := bits.Mul64(uint64(window)+1, uint64(width))
	if hi != 0 || lo > uint64(never) {
		return never
	}
	return int64(lo)
}

// end returns the end of the present window.
func (c *calendar) end() int64 { return c.thisEnd }

// wake makes sure that a host is called in the window of time t, which lies after the present
// one.
func (c *calendar) wake(host int32, t int64) {
	if t < c.nextEnd {
		c.soon.add(host)
		return
	}
	c.wakeLater(host, t)
}

// wakeNow makes sure that a host is called in the present window.
func (c *calendar) wakeNow(host int32) { c.now.add(host) }

func (c *calendar) wakeLater(host int32, t int64) {
	if t == never {
		return
	}
	w := t / c.width
	c.first = min(c.first, w)
	switch {
	case w-c.window < wheelSize:
		c.putWheel(host, w)
	case w/wheelSize-c.window/wheelSize < wheelSize:
		c.putTurn(host, w)
	default:
		c.far.push(farEntry{w, host})
	}
}

// newEntry returns an entry before others of a list.
func (c *calendar) newEntry(host int32, w int64, next int32) int32 {
	i := c.free
	if i != 0 {
		c.free = c.entries[i].next
	} else {
		i = int32(len(c.entries))
		c.entries = append(c.entries, wheelEntry{})
	}
	c.entries[i] = wheelEntry{farEntry{w, host}, next}
	return i
}

// putTurn puts an entry into the list of its turn.
func (c *calendar) putTurn(host int32, w int64) {
	slot := w / wheelSize % wheelSize
	t := &c.turns[slot]
	if t.head == 0 {
		t.first = w
		c.turnsSet[slot/64] |= 1 << (slot % 64)
	}
	t.first = min(t.first, w)
	t.head = c.newEntry(host, w, t.head)
}

// bringTurn brings the entries of the turn of the present window to the wheel.
func (c *calendar) bringTurn() {
	slot := c.window / wheelSize % wheelSize
	t := &c.turns[slot]
	for i := t.head; i != 0; {
		e := &c.entries[i]
		next, place := e.next, e.window%wheelSize
		e.next, c.wheel[place] = c.wheel[place], i
		c.filled[place/64] |= 1 << (place % 64)
		i = next
	}
	t.head = 0
	c.turnsSet[slot/64] &^= 1 << (slot % 64)
}

// putWheel puts an entry into the wheel.
func (c *calendar) putWheel(host int32, w int64) {
	slot := w % wheelSize
	c.wheel[slot] = c.newEntry(host, w, c.wheel[slot])
	c.filled[slot/64] |= 1 << (slot % 64)
}

// next returns the first window after the present one in which a host is to be called, or never.
func (c *calendar) next() int64 {
	if !c.soon.empty() {
		return c.window + 1
	}
	return c.first
}

// nextWith is next, or the window of the given time if that comes first.
func (c *calendar) nextWith(t int64) int64 {
	if t == never {
		return c.next()
	}
	return min(c.next(), t/c.width)
}

// firstEntry finds the window of the first entry of the wheels and the heap.
func (c *calendar) firstEntry() int64 {
	first := never
	if c.far.len() > 0 {
		first = c.far.top().window
	}
	if slot := firstFrom(&c.turnsSet, (c.window/wheelSize+1)%wheelSize); slot >= 0 {
		first = min(first, c.turns[slot].first)
	}
	start := (c.window + 1) % wheelSize
	if slot := firstFrom(&c.filled, start); slot >= 0 {
		first = min(first, c.window+1+(slot-start+wheelSize)%wheelSize)
	}
	return first
}

// firstFrom returns the first slot of a wheel that is set, in turning order from start, or -1.
func firstFrom(set *[wheelSize / 64]uint64, start int64) int64 {
	for k := int64(0); k <= wheelSize/64; k++ {
		word := (start/64 + k) % (wheelSize / 64)
		b := set[word]
		if k == 0 {
			b &= ^uint64(0) << (start % 64)
		}
		if b != 0 {
			return word*64 + int64(bits.TrailingZeros64(b))
		}
	}
	return -1
}

// advance makes window the present one. No host may be waiting for an earlier window.
func (c *calendar) advance(window int64) {
	if window == c.window+1 {
		c.now, c.soon = c.soon, c.now
		c.side ^= 1
	}
	turned := window/wheelSize != c.window/wheelSize
	c.window = window
	if turned {
		c.bringTurn()
	}
	c.thisEnd, c.nextEnd = windowEnd(window, c.width), windowEnd(window+1, c.width)
	if c.first > window {
		return
	}
	slot := window % wheelSize
	for i := c.wheel[slot]; i != 0; {
		e := c.entries[i]
		c.now.add(e.host)
		c.entries[i].next = c.free
		c.free = i
		i = e.next
	}
	c.wheel[slot] = 0
	c.filled[slot/64] &^= 1 << (slot % 64)
	for c.far.len() > 0 && c.far.top().window <= window {
		c.now.add(c.far.pop().host)
	}
	c.first = c.firstEntry()
}

// alignCalendars brings calendars to the same present window, the last of theirs. No host may be waiting for it.
func alignCalendars(cals []*calendar) {
	last := int64(0)
	for _, c := range cals {
		last = max(last, c.window)
	}
	for _, c := range cals {
		if c.window < last {
			c.advance(last)
		}
	}
}

// dealCalendars gives all entries of aligned calendars to those of the threads that own the hosts.
func dealCalendars(cals []*calendar, owners *deal) {
	var entries []farEntry
	for _, c := range cals {
		entries = c.takeAll(entries)
	}
	for _, e := range entries {
		c := cals[owners.owner(e.host)]
		c.wake(e.host, e.window*c.width)
	}
}

// takeAll removes all entries and appends them to a list.
func (c *calendar) takeAll(list []farEntry) []farEntry {
	c.soon.drain(func(host int32) { list = append(list, farEntry{c.window + 1, host}) })
	take := func(head *int32) {
		for i := *head; i != 0; i = c.entries[i].next {
			list = append(list, c.entries[i].farEntry)
		}
		*head = 0
	}
	for slot := range c.wheel {
		take(&c.wheel[slot])
		take(&c.turns[slot].head)
	}
	clear(c.turnsSet[:])
	list = append(list, c.far.items...)
	c.far.items = c.far.items[:0]
	clear(c.filled[:])
	c.entries, c.free, c.first = c.entries[:1], 0, never
	return list
}

// hostSet is a set of hosts: a bitmap with a second level that marks which of its words have
// bits.
type hostSet struct {
	words   []uint64
	summary []uint64
	any     bool // false: surely empty
}

func newHostSet(n int) hostSet {
	words := (n + 63) / 64
	return hostSet{words: make([]uint64, words), summary: make([]uint64, (words+63)/64)}
}

func (s *hostSet) add(i int32) {
	w := uint32(i) >> 6
	old := s.words[w]
	s.words[w] = old | 1<<(uint32(i)&63)
	if old == 0 {
		s.summary[w>>6] |= 1 << (w & 63)
		s.any = true
	}
}

func (s *hostSet) empty() bool { return !s.any }

// drain calls f for every host of the set, in ascending order, and empties it. Hosts that f adds
// after the one at hand are called too, the others stay in the set.
func (s *hostSet) drain(f func(i int32)) {
	s.any = false
	for si := range s.summary {
		for s.summary[si] != 0 {
			b := bits.TrailingZeros64(s.summary[si])
			s.summary[si] &^= 1 << b
			w := si<<6 | b
			for s.words[w] != 0 {
				i := bits.TrailingZeros64(s.words[w])
				s.words[w] &^= 1 << i
				f(int32(w<<6 | i))
			}
		}
	}
}

// minHeap is a binary heap of values, the smallest first.
type minHeap[T any] struct {
	items []T
	less  func(a, b *T) bool
}

func (h *minHeap[T]) len() int { return len(h.items) }

// top returns the smallest value of a heap that is not empty.
func (h *minHeap[T]) top() *T { return &h.items[0] }

func (h *minHeap[T]) push(v T) {
	h.items = append(h.items, v)
	for i := len(h.items) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.less(&h.items[i], &h.items[parent]) {
			return
		}
		h.items[parent], h.items[i] = h.items[i], h.items[parent]
		i = parent
	}
}

func (h *minHeap[T]) pop() T {
	top := h.items[0]
	n := len(h.items) - 1
	h.items[0] = h.items[n]
	h.items = h.items[:n]
	for i := 0; ; {
		child := 2*i + 1
		if child >= n {
			return top
		}
		if child+1 < n && h.less(&h.items[child+1], &h.items[child]) {
			child++
		}
		if !h.less(&h.items[child], &h.items[i]) {
			return top
		}
		h.items[i], h.items[child] = h.items[child], h.items[i]
		i = child
	}
}
