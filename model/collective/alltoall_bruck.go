package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

var alltoallBruck = Algorithm{
	Op:     schedule.Alltoall,
	Name:   "bruck",
	Info:   "in round i all blocks whose way has bit i set travel 2^i ranks on",
	Rounds: "lg P",
	Volume: "s (P / 2) lg P",
	Step:   alltoallBruckStep,
}

func alltoallBruckStep(in *Instance, me, step int, b *schedule.Block) bool {
	p := in.Ranks
	if step >= bits.Len(uint(p-1)) {
		return false
	}
	distance := 1 << step
	from := wrap(me-distance, p)
	b.Send(wrap(me+distance, p), bruckBytes(in, me, step), 0)
	b.Recv(from, bruckBytes(in, from, step), 0)
	return true
}

// bruckBytes returns what a rank passes on in a round: the blocks whose way, that is, destination
// minus origin, has the bit of the round set. By then a block has gone as far as the lower bits of
// its way say. With sizes by pair this takes time in proportion to the number of ranks.
func bruckBytes(in *Instance, me, round int) int64 {
	p, bit := in.Ranks, 1<<round
	if in.Sizes == nil {
		whole, rest := p>>(round+1), p&(2*bit-1)
		return int64(whole<<round+max(0, rest-bit)) * in.Size
	}
	sum := int64(0)
	for way := bit; way < p; way = (way + 1) | bit {
		origin := wrap(me-way&(bit-1), p)
		sum += in.Sizes[origin*p+wrap(origin+way, p)]
	}
	return sum
}
