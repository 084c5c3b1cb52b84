package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

var reduceRabenseifner = Algorithm{
	Op:     schedule.Reduce,
	Name:   "rabenseifner",
	Info:   "reduce-scatter by recursive halving, then gather the same way back; extra ranks are folded in",
	Rounds: "2 lg P",
	Volume: "s (1.5 - 1 / P)",
	parts:  onePerCoreRank,
	Step:   reduceRabenseifnerStep,
}

// Ranks are counted backwards from the root. Then the root is the last rank, which is never folded
// and has all bits set in the core.
func reduceRabenseifnerStep(in *Instance, me, step int, b *schedule.Block) bool {
	last := in.Ranks - 1
	v := last - in.relative(me)
	peer := func(v int) int { return in.absolute(last - v) }
	c := fold(v, in.Ranks)
	switch c.role {
	case folded:
		if step == 0 {
			b.Send(peer(v+1), in.Size, 0)
		}
		return step == 0
	case host:
		if round, reduces := in.round(step); round == 0 {
			if reduces {
				in.reduce(b, in.Size)
			} else {
				b.Recv(peer(v-1), in.Size, 0)
			}
			return true
		}
		if step -= 2; in.FreeReduce {
			step++
		}
	}
	step, halves := in.halve(&c, step, func(rank int) int { return peer(c.member(rank)) }, b)
	if halves {
		return true
	}
	// A rank receives until the round of its highest bit that the root does not share; then it
	// sends what it has and is done.
	round := c.rounds() - 1 - step
	sends := bits.Len(uint(c.rank^(c.size-1))) - 1 // -1: the root
	if round < 0 || round < sends {
		return false
	}
	other := c.rank ^ 1<<round
	if round == sends {
		b.Send(peer(c.member(other)), in.halfBytes(&c, c.rank, round), 0)
	} else {
		b.Recv(peer(c.member(other)), in.halfBytes(&c, other, round), 0)
	}
	return true
}
