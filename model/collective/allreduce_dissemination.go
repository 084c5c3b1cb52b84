package collective

import "slackline/model/schedule"

var allreduceDissemination = Algorithm{
	Op:   schedule.Allreduce,
	Name: "dissemination",
	Info: "in round i rank r sends to rank r + 2^i; counts some ranks twice if P is not a power of two; " +
		"with radix k to k - 1 ranks (n-way)",
	Rounds:  "lg P",
	Volume:  "s lg P",
	Radix:   2,
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
		return disseminate(in, me, round, in.Size, b) > 0
	}
	first, last := in.distances(round)
	for d := first; d <= last; d += first {
		in.reduce(b, in.Size)
	}
	return last >= first
}
