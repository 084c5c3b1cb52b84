package collective

import "slackline/model/schedule"

var bcastKnomial = Algorithm{
	Op:     schedule.Bcast,
	Name:   "knomial",
	Info:   "k-nomial tree of the given radix",
	Rounds: "log_k P",
	Volume: "s (k - 1) log_k P",
	Radix:  4,
	Step:   bcastKnomialStep,
}

func bcastKnomialStep(in *Instance, me, step int, b *schedule.Block) bool {
	return treeDown(in, in.relative(me), in.Radix, step, in.Size, b)
}
