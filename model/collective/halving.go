package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

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

// halve is a step of the reduce-scatter by recursive halving among the core ranks, which are the given peers. It returns
// the number of the step after the halving, and whether this one belongs to it.
func (in *Instance) halve(c *core, step int, peer func(rank int) int, b *schedule.Block) (after int, halves bool) {
	steps := c.rounds()
	if !in.FreeReduce {
		steps *= 2
	}
	if step >= steps {
		return step - steps, false
	}
	round, reduces := in.round(step)
	other := c.rank ^ 1<<round
	kept := in.halfBytes(c, c.rank, round)
	if reduces {
		in.reduce(b, kept)
		return 0, true
	}
	b.Send(peer(other), in.halfBytes(c, other, round), 0)
	b.Recv(peer(other), kept, 0)
	return 0, true
}
