package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

var allreduceRabenseifner = Algorithm{
	Op:     schedule.Allreduce,
	Name:   "rabenseifner",
	Info:   "reduce-scatter by recursive halving, then allgather by recursive doubling; extra ranks are folded in",
	Rounds: "2 lg P + 2",
	Volume: "2 s",
	parts:  onePerCoreRank,
	Step:   allreduceRabenseifnerStep,
}

func allreduceRabenseifnerStep(in *Instance, me, step int, b *schedule.Block) bool {
	c := fold(me, in.Ranks)
	if c.role == folded {
		round, reduces := in.round(step)
		return foldedStep(in, me, round, reduces, b)
	}
	if c.role == host {
		round, reduces := in.round(step)
		if round == 0 {
			return hostStep(in, me, 0, reduces, b)
		}
		if step -= 2; in.FreeReduce {
			step++
		}
	}
	n := c.rounds()
	first := n
	if !in.FreeReduce {
		first *= 2
	}
	if step < first {
		round, reduces := in.round(step)
		return halve(in, &c, round, reduces, b)
	}
	step -= first
	if step < n {
		from, size := halvingRange(&c, n-1-step)
		other, _ := halvingRange(&core{size: c.size, rank: c.rank ^ 1<<(n-1-step)}, n-1-step)
		partner := c.member(c.rank ^ 1<<(n-1-step))
		b.Send(partner, in.bytes(from, from+size), 0)
		b.Recv(partner, in.bytes(other, other+size), 0)
		return true
	}
	if step == n && c.role == host {
		b.Send(me-1, in.Size, 0)
		return true
	}
	return false
}

// halve is a round of recursive halving with the nearest partner first: of the blocks that both
// still work on, each sends one half and keeps the other.
func halve(in *Instance, c *core, round int, reduces bool, b *schedule.Block) bool {
	partner := c.rank ^ 1<<round
	keep, size := halvingRange(c, round)
	if reduces {
		Reduce(b, in.bytes(keep, keep+size))
		return true
	}
	give, _ := halvingRange(&core{size: c.size, rank: partner}, round)
	b.Send(c.member(partner), in.bytes(give, give+size), 0)
	b.Recv(c.member(partner), in.bytes(keep, keep+size), 0)
	return true
}

// halvingRange returns the blocks that a core rank keeps in a round: it takes the upper half of
// what it had if the bit of the round is set in its rank.
func halvingRange(c *core, round int) (from, size int) {
	n := c.rounds()
	size = c.size >> (round + 1)
	reversed := int(bits.Reverse64(uint64(c.rank)) >> 1 >> (63 - n))
	return reversed &^ (size - 1), size
}
