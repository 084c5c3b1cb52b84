package ledger

import (
	"cmp"
	"math/bits"
	"slices"

	"slackline/analyze/profile"
	"slackline/model/unit"
)

// Table sums amounts by rank, call path and kind. Its zero value is empty.
type Table struct {
	slots []Entry // a power of two of them; key 0 means an empty one
	shift uint8   // leaves as many bits as number the slots
	used  int
}

// Entry is what a key has cost.
type Entry struct {
	Key         uint64
	Short, Long unit.Sum
}

// KeyOf packs a rank (28 bits), the number of a call path (31 bits) and a kind (5 bits), so that keys are in this
// order. It is never 0.
func KeyOf(rank int, path int32, kind uint8) uint64 {
	return uint64(rank)<<36 | uint64(uint32(path))<<5 | uint64(kind) + 1
}

// Place is the rank and the call path of an entry.
func (c *Entry) Place() profile.Place {
	return profile.Place{Rank: int(c.Key >> 36), Path: int32(c.Key >> 5 & 0x7FFFFFFF)}
}

// Kind is the kind of wait state of an entry.
func (c *Entry) Kind() uint8 { return uint8(c.Key&31) - 1 }

// Add adds amounts to a key.
func (t *Table) Add(key uint64, short, long unit.Sum) {
	if 2*t.used >= len(t.slots) {
		t.grow()
	}
	s := t.slot(key)
	if s.Key == 0 {
		s.Key = key
		t.used++
	}
	s.Short.AddSum(short)
	s.Long.AddSum(long)
}

// slot finds the slot of a key, or an empty one for it.
func (t *Table) slot(key uint64) *Entry {
	mask := uint64(len(t.slots) - 1)
	for h := key * 0x9E3779B97F4A7C15 >> t.shift; ; h++ { // 2^64 divided by the golden ratio
		if s := &t.slots[h&mask]; s.Key == key || s.Key == 0 {
			return s
		}
	}
}

func (t *Table) grow() {
	old := t.slots
	t.slots = make([]Entry, max(64, 2*len(old)))
	t.shift = uint8(64 - bits.TrailingZeros(uint(len(t.slots))))
	for i := range old {
		if old[i].Key != 0 {
			*t.slot(old[i].Key) = old[i]
		}
	}
}

// AddAll adds all amounts of another table.
func (t *Table) AddAll(other *Table) {
	for i := range other.slots {
		if s := &other.slots[i]; s.Key != 0 {
			t.Add(s.Key, s.Short, s.Long)
		}
	}
}

// Sorted returns all costs in the order of their keys.
func (t *Table) Sorted() []Entry {
	list := make([]Entry, 0, t.used)
	for _, s := range t.slots {
		if s.Key != 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(x, y Entry) int { return cmp.Compare(x.Key, y.Key) })
	return list
}
