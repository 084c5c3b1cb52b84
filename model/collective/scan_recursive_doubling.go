package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

var scanRecursiveDoubling = Algorithm{
	Op:     schedule.Scan,
	Name:   "recursive-doubling",
	Info:   "pairs at distance 1, 2, 4, ... exchange what they have combined",
	Rounds: "lg P",
	Volume: "s lg P",
	Step:   scanRecursiveDoublingStep,
}

func scanRecursiveDoublingStep(in *Instance, me, step int, b *schedule.Block) bool {
	return scanDoubling(in, me, step, 2, b)
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
	case partner >= in.Ranks: // nobody there
	case !reduces:
		b.Send(partner, in.Size, 0)
		b.Recv(partner, in.Size, 0)
	case partner > me:
		Reduce(b, in.Size)
	case me&(distance-1) == 0:
		Reduce(b, firstWork*in.Size)
	default:
		Reduce(b, 2*in.Size)
	}
	return true
}
