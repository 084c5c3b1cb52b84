package collective

import "slackline/model/schedule"

var reduceKnomial = Algorithm{
	Op:     schedule.Reduce,
	Name:   "knomial",
	Info:   "k-nomial tree of the given radix",
	Rounds: "log_k P",
	Volume: "s",
	Radix:  4,
	Step:   reduceKnomialStep,
}

func reduceKnomialStep(in *Instance, me, step int, b *schedule.Block) bool {
	return treeUp(in, in.relative(me), in.Radix, step, in.Size, b)
}
