package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

// Algorithms for powers of two run on a core of 2^n ranks. The p - 2^n ranks beyond that are
// folded in before and out afterwards: of the first 2*(p-2^n) ranks each even one gives its data
// to the odd one after it, sits out, and gets the result at the end. The core counts its ranks
// anew: core rank c stands for the ranks first(c) .. first(c+1)-1, one or two of them.

// coreSize returns the largest power of two that is not above p.
func coreSize(p int) int { return 1 << (bits.Len(uint(p)) - 1) }

// role describes what a rank is to the core.
type role uint8

const (
	alone  role = iota // in the core, only for itself
	host               // in the core, also for the rank before it
	folded             // not in the core
)

// core is the place of a rank in the core.
type core struct {
	role  role
	size  int // ranks of the core
	extra int // ranks outside
	rank  int // in the core; of the host if folded
}

// fold returns the place of rank me of p.
func fold(me, p int) core {
	c := core{size: coreSize(p)}
	c.extra = p - c.size
	switch {
	case me >= 2*c.extra:
		c.rank = me - c.extra
	case me%2 == 0:
		c.role, c.rank = folded, me/2
	default:
		c.role, c.rank = host, me/2
	}
	return c
}

// rounds returns the logarithm of the size of the core.
func (c *core) rounds() int { return bits.TrailingZeros(uint(c.size)) }

// member returns the rank that takes part in the core as core rank i.
func (c *core) member(i int) int {
	if i < c.extra {
		return 2*i + 1
	}
	return i + c.extra
}

// first returns the first rank that core rank i stands for. It may be asked for i = size.
func (c *core) first(i int) int { return i + min(i, c.extra) }

// foldedStep is the part of a rank outside the core in an allreduce: it gives its vector away and
// waits for the result.
func foldedStep(in *Instance, me, round int, reduces bool, b *schedule.Block) bool {
	switch {
	case round > 1 || round == 1 && reduces:
		return false
	case reduces: // its host is combining
	case round == 0:
		b.Send(me+1, in.Size, 0)
	default:
		b.Recv(me+1, in.Size, 0)
	}
	return true
}

// hostStep is what a host does for its folded rank: in round 0 take its vector and combine it, in
// the last one give it the result.
func hostStep(in *Instance, me, round int, reduces bool, b *schedule.Block) bool {
	switch {
	case round == 0 && reduces:
		in.reduce(b, in.Size)
	case round == 0:
		b.Recv(me-1, in.Size, 0)
	case reduces:
		return false
	default:
		b.Send(me-1, in.Size, 0)
	}
	return true
}
