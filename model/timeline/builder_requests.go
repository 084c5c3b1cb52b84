package timeline

import "math/bits"

// requestTable holds the requests that are not completed yet. Its zero value is empty.
type requestTable struct {
	slots []requestSlot // hash table with linear probing, a power of two of them
	shift uint8
	used  int
	again []requestSlot // requests that were begun anew before they were completed here
	lost  int64         // those of them that no other thread completed either
}

// requestKey names a request. Requests of different kinds are never mixed up, even if their ids do.
type requestKey struct {
	id   uint64
	kind requestKind
}

type requestKind uint8

const (
	sendRequest requestKind = iota + 1
	receiveRequest
	collectiveRequest
	fileRequest // not in a table: it may end with the call that begins it
)

// requestSlot is a place in the table; kind 0 means an empty one.
type requestSlot struct {
	key   requestKey
	index int32
}

// put notes that a request was begun; index says where what it is about is kept.
func (r *requestTable) put(key requestKey, index int32) {
	if 2*(r.used+1) > len(r.slots) {
		r.grow()
	}
	i := r.find(key)
	if r.slots[i].key.kind == 0 {
		r.used++
	} else {
		r.lost++
		r.again = append(r.again, r.slots[i])
	}
	r.slots[i] = requestSlot{key, index}
}

// take removes a request and returns its index, false if it was not begun.
func (r *requestTable) take(key requestKey) (int32, bool) {
	if r.used == 0 {
		return 0, false
	}
	i := r.find(key)
	if r.slots[i].key.kind == 0 {
		return 0, false
	}
	index := r.slots[i].index
	r.used--
	r.remove(i)
	return index, true
}

// pending is the number of requests that were begun and never completed.
func (r *requestTable) pending() int64 { return int64(r.used) + r.lost }

// find returns the slot of a request or the empty one where it belongs.
func (r *requestTable) find(key requestKey) int {
	mask := len(r.slots) - 1
	i := r.home(key)
	for r.slots[i].key != key && r.slots[i].key.kind != 0 {
		i = (i + 1) & mask
	}
	return i
}

// home is the slot where the search for a request begins.
func (r *requestTable) home(key requestKey) int {
	return int((key.id*4 + uint64(key.kind)) * 0x9E3779B97F4A7C15 >> r.shift)
}

// remove empties a slot and moves those after it that would not be found any more.
func (r *requestTable) remove(hole int) {
	mask := len(r.slots) - 1
	for i := (hole + 1) & mask; r.slots[i].key.kind != 0; i = (i + 1) & mask {
		if home := r.home(r.slots[i].key); (i-home)&mask >= (i-hole)&mask {
			r.slots[hole], hole = r.slots[i], i
		}
	}
	r.slots[hole] = requestSlot{}
}

// grow doubles the table.
func (r *requestTable) grow() {
	old := r.slots
	size := max(16, 2*len(old))
	r.slots = make([]requestSlot, size)
	r.shift = uint8(64 - bits.TrailingZeros(uint(size)))
	for _, s := range old {
		if s.key.kind != 0 {
			r.slots[r.find(s.key)] = s
		}
	}
}
