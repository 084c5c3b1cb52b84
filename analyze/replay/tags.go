package replay

import (
	"math/bits"
	"slices"
)

// tagCode makes one number of the communicator and the tag of a message, a different one for each
// pair. The first communicator keeps its tags; the tags of the others have its number in the bits
// above the largest tag. If these are too few, the pairs are numbered.
type tagCode struct {
	shift uint
	pairs []uint64 // sorted; nil: not needed
}

// newTagCode looks at all messages that become operations.
func (c *converter) newTagCode() tagCode {
	largest, last, negative := uint32(0), int32(0), false
	for i := range c.t.Messages {
		if m := &c.t.Messages[i]; c.usable[i] {
			largest, last = max(largest, uint32(m.Tag)), max(last, m.Comm)
			negative = negative || m.Tag < 0 || m.Comm < 0
		}
	}
	code := tagCode{shift: uint(bits.Len32(largest))}
	if !negative && bits.Len32(uint32(last))+int(code.shift) < 32 {
		return code
	}
	known := map[uint64]bool{}
	for i := range c.t.Messages {
		if m := &c.t.Messages[i]; c.usable[i] {
			known[pairOf(m.Comm, m.Tag)] = true
		}
	}
	for pair := range known {
		code.pairs = append(code.pairs, pair)
	}
	slices.Sort(code.pairs)
	return code
}

func pairOf(comm, tag int32) uint64 { return uint64(uint32(comm))<<32 | uint64(uint32(tag)) }

// of returns the tag of a message in the schedule.
func (code *tagCode) of(comm, tag int32) uint32 {
	if code.pairs == nil {
		return uint32(comm)<<code.shift | uint32(tag)
	}
	i, _ := slices.BinarySearch(code.pairs, pairOf(comm, tag))
	return uint32(i)
}
