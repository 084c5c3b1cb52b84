package replay

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"slackline/model/timeline"
)

// tagCode makes one number of the communicator and the tag of a message, a different one for each
// pair. The first communicator keeps its tags; the tags of the others have its number in the bits
// above the largest tag. If these are too few, or if there are partitioned messages, which match only
// those of the same channel, the pairs are numbered.
type tagCode struct {
	shift uint
	pairs []tagPair // sorted; nil: not needed
}

// tagPair is what the messages between two ranks are distinguished by.
type tagPair struct{ comm, tag, channel uint32 }

func pairOf(m *timeline.Message) tagPair {
	return tagPair{uint32(m.Comm), uint32(m.Tag), uint32(m.Channel)}
}

func (p tagPair) compare(q tagPair) int {
	return cmp.Or(cmp.Compare(p.channel, q.channel), cmp.Compare(p.comm, q.comm), cmp.Compare(p.tag, q.tag))
}

// newTagCode looks at all messages that become operations.
func (c *converter) newTagCode() tagCode {
	largest, last, special := uint32(0), int32(0), false
	for i := range c.t.Messages {
		if m := &c.t.Messages[i]; c.usable[i] {
			largest, last = max(largest, uint32(m.Tag)), max(last, m.Comm)
			special = special || m.Tag < 0 || m.Comm < 0 || m.Channel != 0
		}
	}
	code := tagCode{shift: uint(bits.Len32(largest))}
	if !special && bits.Len32(uint32(last))+int(code.shift) < 32 {
		return code
	}
	known := map[tagPair]bool{}
	for i := range c.t.Messages {
		if m := &c.t.Messages[i]; c.usable[i] {
			known[pairOf(m)] = true
		}
	}
	code.pairs = slices.SortedFunc(maps.Keys(known), tagPair.compare)
	return code
}

// of returns the tag of a message in the schedule.
func (code *tagCode) of(m *timeline.Message) uint32 {
	if code.pairs == nil {
		return uint32(m.Comm)<<code.shift | uint32(m.Tag)
	}
	i, _ := slices.BinarySearchFunc(code.pairs, pairOf(m), tagPair.compare)
	return uint32(i)
}
