package schedule

import (
	"bytes"
	"hash/maphash"
)

// labelTable finds the operations of one block by their labels. Labels of generated files are
// nearly always a prefix and a number: those with the prefix of the first such label of the block
// are found in an array by their number, all others in a hash table.
type labelTable struct {
	prefix []byte   // part of the file; nil until the block has a numbered label
	base   uint32   // number of the first entry of window
	window []uint32 // operation plus 1; 0: no such label
	width  int      // length that window gets when the prefix is known

	seed    maphash.Seed // keeps made-up files from being slow; results do not depend on it
	slots   []uint32     // position in entries plus 1; 0: free. Its length is a power of 2.
	entries []labelEntry

	windowMemory, slotMemory []uint32
}

type labelEntry struct {
	label []byte // part of the file
	hash  uint32
	op    uint32
}

// fewSlots is the size of the hash table of a block with few labels.
const fewSlots = 16

// reset empties the table for a block of the given number of bytes. An operation with its label
// takes 8 bytes at least, so the array has room for twice as many numbers as there can be labels,
// and for no more: a label such as x999999999 must not cost memory.
func (t *labelTable) reset(blockBytes int) {
	t.prefix = nil
	t.width = blockBytes/4 + 16
	t.entries = t.entries[:0]
	t.slots = nil
}

// number returns the number of a label that has the prefix of the block.
func (t *labelTable) number(label []byte) (uint32, bool) {
	k := len(t.prefix)
	digits := len(label) - k
	if k == 0 || digits <= 0 || digits > maxLabelDigits || label[0] != t.prefix[0] ||
		label[k] == '0' && digits > 1 || k > 1 && !bytes.Equal(label[:k], t.prefix) {
		return 0, false
	}
	n := uint32(0)
	for _, c := range label[k:] {
		c -= '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + uint32(c)
	}
	return n, true
}

// find returns the operation with a label, or -1.
func (t *labelTable) find(label []byte) int {
	if n, ok := t.number(label); ok {
		if i := n - t.base; uint64(i) < uint64(len(t.window)) {
			return int(t.window[i]) - 1
		}
	}
	if len(t.entries) == 0 {
		return -1
	}
	return t.findHashed(label, t.hash(label))
}

// findHashed looks into the hash table.
func (t *labelTable) findHashed(label []byte, h uint32) int {
	if len(t.slots) == 0 {
		return -1
	}
	mask := uint32(len(t.slots) - 1)
	for at := h & mask; t.slots[at] != 0; at = (at + 1) & mask {
		if e := &t.entries[t.slots[at]-1]; e.hash == h && bytes.Equal(e.label, label) {
			return int(e.op)
		}
	}
	return -1
}

// definition is what define has done.
type definition struct {
	before   int    // the operation that has the label already; -1 if it is new
	number   uint32 // of a numbered label
	numbered bool
}

// define gives a label to an operation, unless another one has it.
func (t *labelTable) define(label []byte, op int) (d definition) {
	if t.prefix == nil {
		if k, n, ok := splitNumber(label); ok {
			t.open(label[:k], n)
		}
	}
	if d.number, d.numbered = t.number(label); d.numbered {
		if i := d.number - t.base; uint64(i) < uint64(len(t.window)) {
			if d.before = int(t.window[i]) - 1; d.before < 0 {
				t.window[i] = uint32(op) + 1
			}
			return d
		}
	}
	h := t.hash(label)
	if d.before = t.findHashed(label, h); d.before < 0 {
		t.insert(labelEntry{label, h, uint32(op)})
	}
	return d
}

// open sets the prefix and lays the array around the first number.
func (t *labelTable) open(prefix []byte, number uint32) {
	t.prefix = prefix
	t.base = 0
	if int(number) > t.width/2 {
		t.base = number - uint32(min(t.width/4, int(number)))
	}
	if cap(t.windowMemory) < t.width {
		t.windowMemory = make([]uint32, t.width+t.width/4)
	}
	t.window = t.windowMemory[:t.width]
	clear(t.window)
}

func (t *labelTable) hash(label []byte) uint32 { return uint32(maphash.Bytes(t.seed, label)) }

// insert puts an entry into the hash table, which is kept at most half full.
func (t *labelTable) insert(e labelEntry) {
	t.entries = append(t.entries, e)
	if len(t.entries)*2 <= len(t.slots) {
		t.place(len(t.entries))
		return
	}
	size := max(fewSlots, 2*len(t.slots))
	if cap(t.slotMemory) < size {
		t.slotMemory = make([]uint32, size)
	}
	t.slots = t.slotMemory[:size]
	clear(t.slots)
	for n := range t.entries {
		t.place(n + 1)
	}
}

// place puts entry n-1 into the first free slot.
func (t *labelTable) place(n int) {
	mask := uint32(len(t.slots) - 1)
	at := t.entries[n-1].hash & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = uint32(n)
}
