package waits

import (
	"cmp"
	"math/bits"
	"slices"

	"slackline/analyze/profile"
)

// costTable sums amounts by rank, call path and kind. Its zero value is empty.
type costTable struct {
	slots []cost // a power of two of them; key 0 means an empty one
	shift uint8  // leaves as many bits as number the slots
	used  int
}

// cost is what a key has cost, in picoseconds.
type cost struct {
	key         uint64
	short, long int64
}

// costKey packs a rank (28 bits), the number of a call path (31 bits) and a kind (5 bits), so that keys are in this
// order. It is never 0.
func costKey(rank int, path int32, kind uint8) uint64 {
	return uint64(rank)<<36 | uint64(uint32(path))<<5 | uint64(kind) + 1
}

func (c *cost) place() profile.Place {
	return profile.Place{Rank: int(c.key >> 36), Path: int32(c.key >> 5 & 0x7FFFFFFF)}
}
func (c *cost) kind() uint8 { return uint8(c.key&31) - 1 }

// add adds amounts to a key.
func (t *costTable) add(key uint64, short, long int64) {
	if 2*t.used >= len(t.slots) {
		t.grow()
	}
	s := t.slot(key)
	if s.key == 0 {
		s.key = key
		t.used++
	}
	s.short += short
	s.long += long
}

// slot finds the slot of a key, or an empty one for it.
func (t *costTable) slot(key uint64) *cost {
	mask := uint64(len(t.slots) - 1)
	for h := key * 0x9E3779B97F4A7C15 >> t.shift; ; h++ { // 2^64 divided by the golden ratio
		if s := &t.slots[h&mask]; s.key == key || s.key == 0 {
			return s
		}
	}
}

func (t *costTable) grow() {
	old := t.slots
	t.slots = make([]cost, max(64, 2*len(old)))
	t.shift = uint8(64 - bits.TrailingZeros(uint(len(t.slots))))
	for i := range old {
		if old[i].key != 0 {
			*t.slot(old[i].key) = old[i]
		}
	}
}

// addAll adds all amounts of another table.
func (t *costTable) addAll(other *costTable) {
	for i := range other.slots {
		if s := &other.slots[i]; s.key != 0 {
			t.add(s.key, s.short, s.long)
		}
	}
}

// sorted returns all costs in the order of their keys.
func (t *costTable) sorted() []cost {
	list := make([]cost, 0, t.used)
	for _, s := range t.slots {
		if s.key != 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(x, y cost) int { return cmp.Compare(x.key, y.key) })
	return list
}
