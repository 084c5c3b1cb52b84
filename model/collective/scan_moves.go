package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

// Moves that scan and exscan share.

// scanChain passes the combination of all ranks so far along the ranks. A rank that does not
// combine sends its own vector, or keeps what it gets for itself.
func scanChain(in *Instance, me, step int, combines bool, b *schedule.Block) bool {
	if me == 0 {
		step += 2
	} else if in.FreeReduce && step > 0 {
		step++
	}
	switch step {
	case 0:
		b.Recv(me-1, in.Size, 0)
		return true
	case 1:
		if combines {
			in.reduce(b, in.Size)
		}
		return true
	case 2:
		if me < in.Ranks-1 {
			b.Send(me+1, in.Size, 0)
			return true
		}
	}
	return false
}

// scanDoubling exchanges partial combinations in pairs at growing distance. A rank combines what
// comes from above with its partial combination, and what comes from below also with its result:
// twice the work, except the first time if that only starts the result (work 1).
func scanDoubling(in *Instance, me, step int, firstWork int64, b *schedule.Block) bool {
	round, reduces := in.round(step)
	if round >= bits.Len(uint(in.Ranks-1)) {
		return false
	}
	distance := 1 << round
	partner := me ^ distance
	switch {
	case partner >= in.Ranks: // there is none
	case !reduces:
		b.Send(partner, in.Size, 0)
		b.Recv(partner, in.Size, 0)
	case partner > me:
		in.reduce(b, in.Size)
	case me&(distance-1) == 0:
		in.reduce(b, firstWork*in.Size)
	default:
		in.reduce(b, 2*in.Size)
	}
	return true
}
