package collective

import "slackline/model/schedule"

var reduceBinomial = Algorithm{
	Op:     schedule.Reduce,
	Name:   "binomial",
	Info:   "binomial tree; a rank combines its children one after the other",
	Rounds: "lg P",
	Volume: "s",
	Step:   reduceBinomialStep,
}

func reduceBinomialStep(in *Instance, me, step int, b *schedule.Block) bool {
	return treeUp(in, in.relative(me), 2, step, in.Size, b)
}
