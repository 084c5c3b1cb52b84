package collective

import "math/bits"

// Recursive halving with the nearest partner first: in round i core ranks that differ in bit i
// share the blocks that both work on. The one with the bit set keeps the upper half and the other
// one the lower half. After the last round a core rank has one block, that of its rank with the
// bits in reverse order.

// halfBytes returns the size of the blocks that a core rank keeps in a round.
func (in *Instance) halfBytes(c *core, rank, round int) int64 {
	size := c.size >> (round + 1)
	reversed := int(bits.Reverse64(uint64(rank)) >> 1 >> (63 - c.rounds()))
	first := reversed &^ (size - 1)
	return in.bytes(first, first+size)
}
