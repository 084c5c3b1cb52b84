package collective

import "slackline/model/schedule"

var barrierDissemination = Algorithm{
	Op:     schedule.Barrier,
	Name:   "dissemination",
	Info:   "in round i rank r sends to rank r + 2^i and receives from rank r - 2^i; with radix k to and from k - 1 ranks (n-way)",
	Rounds: "lg P",
	Volume: "lg P",
	Radix:  2,
	Step:   barrierDisseminationStep,
	Exchange: func(in *Instance, me, step int) (to, from int32, size int64, ok bool) {
		to, from, ok = in.partners(me, step)
		return to, from, barrierBytes, ok
	},
}

// barrierBytes is the size of the messages of a barrier.
const barrierBytes = 1

func barrierDisseminationStep(in *Instance, me, step int, b *schedule.Block) bool {
	return disseminate(in, me, step, barrierBytes, b) > 0
}
