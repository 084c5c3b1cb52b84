package collective

import "slackline/model/schedule"

var reduceScatterByReduce = Algorithm{
	Op:     schedule.ReduceScatter,
	Name:   "reduce-then-scatter",
	Info:   "binomial reduce of all blocks to rank 0, which then sends each rank its block",
	Rounds: "lg P + 1",
	Volume: "s P",
	Step:   reduceScatterByReduceStep,
}

func reduceScatterByReduceStep(in *Instance, me, step int, b *schedule.Block) bool {
	first := treeUpSteps(in, me, 2)
	if step < first {
		return treeUp(in, me, 2, step, in.all(), b)
	}
	return linearScatter(in, me, 0, step-first, b)
}
