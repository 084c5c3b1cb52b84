package timeline

import "math/bits"

// channel is what a receive can choose its message by: between the same two ranks, messages with the
// same communicator and tag do not overtake each other. Partitioned messages have channels of their own, numbered from 1.
type channel struct{ peer, comm, tag, partitioned int32 }

// channelTable numbers channels from 0. Its zero value is empty.
type channelTable struct {
	keys  []channel
	slots []int32 // hash table with linear probing, a power of two of them: number + 1, 0: empty
	shift uint8
}

// number returns the number of a channel, which is a new one if it does not have one yet.
func (t *channelTable) number(c channel) int32 {
	if 2*len(t.keys) >= len(t.slots) {
		t.grow()
	}
	i := t.find(c)
	if t.slots[i] == 0 {
		t.keys = append(t.keys, c)
		t.slots[i] = int32(len(t.keys))
	}
	return t.slots[i] - 1
}

// lookup returns the number of a channel, -1 if it has none.
func (t *channelTable) lookup(c channel) int32 {
	if len(t.keys) == 0 {
		return -1
	}
	return t.slots[t.find(c)] - 1
}

// find returns the slot of a channel or the empty one where it belongs.
func (t *channelTable) find(c channel) int {
	mask := len(t.slots) - 1
	i := t.home(c)
	for t.slots[i] != 0 && t.keys[t.slots[i]-1] != c {
		i = (i + 1) & mask
	}
	return i
}

// home is the slot where the search for a channel begins.
func (t *channelTable) home(c channel) int {
	h := (uint64(uint32(c.peer))<<32 | uint64(uint32(c.tag))) * 0x9E3779B97F4A7C15
	h = (h ^ h>>32 ^ uint64(uint32(c.comm)) ^ uint64(uint32(c.partitioned))<<32) * 0xD6E8FEB86659FD93
	return int(h >> t.shift)
}

// grow doubles the hash table.
func (t *channelTable) grow() {
	size := max(16, 2*len(t.slots))
	t.slots = make([]int32, size)
	t.shift = uint8(64 - bits.TrailingZeros(uint(size)))
	for no, c := range t.keys {
		t.slots[t.find(c)] = int32(no + 1)
	}
}
