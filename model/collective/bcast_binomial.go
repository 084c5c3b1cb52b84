package collective

import "slackline/model/schedule"

var bcastBinomial = Algorithm{
	Op:     schedule.Bcast,
	Name:   "binomial",
	Info:   "binomial tree; a rank sends to all its children, the largest subtree first",
	Rounds: "lg P",
	Volume: "s lg P",
	Step:   bcastBinomialStep,
}

func bcastBinomialStep(in *Instance, me, step int, b *schedule.Block) bool {
	return treeDown(in, in.relative(me), 2, step, in.Size, b)
}
