package collective

import "slackline/model/schedule"

var scatterBinomial = Algorithm{
	Op:     schedule.Scatter,
	Name:   "binomial",
	Info:   "binomial tree; a rank gets the blocks of its whole subtree",
	Rounds: "lg P",
	Volume: "s (P - 1)",
	Step:   scatterBinomialStep,
}

func scatterBinomialStep(in *Instance, me, step int, b *schedule.Block) bool {
	return treeScatter(in, in.relative(me), step, false, b)
}
