package collective

import "slackline/model/schedule"

var bcastScatterRecursiveDoubling = Algorithm{
	Op:     schedule.Bcast,
	Name:   "scatter-recursive-doubling",
	Info:   "scatter on a binomial tree, then allgather by recursive doubling",
	Rounds: "2 lg P",
	Volume: "2 s (P - 1) / P",
	parts:  onePerRank,
	Step:   bcastScatterRecursiveDoublingStep,
}

func bcastScatterRecursiveDoublingStep(in *Instance, me, step int, b *schedule.Block) bool {
	v := in.relative(me)
	first := treeScatterSteps(in, v)
	if step < first {
		return treeScatter(in, v, step, true, b)
	}
	return doublingGather(in, v, step-first, int(in.Root), b)
}
