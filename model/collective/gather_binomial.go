package collective

import "slackline/model/schedule"

var gatherBinomial = Algorithm{
	Op:     schedule.Gather,
	Name:   "binomial",
	Info:   "binomial tree; a rank sends the blocks of its whole subtree",
	Rounds: "lg P",
	Volume: "s P / 2",
	Step:   gatherBinomialStep,
}

func gatherBinomialStep(in *Instance, me, step int, b *schedule.Block) bool {
	return treeGather(in, in.relative(me), step, false, b)
}
