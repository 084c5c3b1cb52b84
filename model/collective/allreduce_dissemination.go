package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

var allreduceDissemination = Algorithm{
	Op:      schedule.Allreduce,
	Name:    "dissemination",
	Info:    "in round i rank r sends to rank r + 2^i; counts some ranks twice if P is not a power of two",
	Rounds:  "lg P",
	Volume:  "s lg P",
	Repeats: true,
	Step:    allreduceDisseminationStep,
	Exchange: func(in *Instance, me, step int) (to, from int32, size int64, ok bool) {
		to, from, ok = in.partners(me, step)
		return to, from, in.Size, ok
	},
}

func allreduceDisseminationStep(in *Instance, me, step int, b *schedule.Block) bool {
	round, reduces := in.round(step)
	if !reduces {
		return disseminate(in, me, round, in.Size, b)
	}
	if round >= bits.Len(uint(in.Ranks-1)) {
		return false
	}
	in.reduce(b, in.Size)
	return true
}
