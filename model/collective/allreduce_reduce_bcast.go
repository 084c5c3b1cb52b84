package collective

import "slackline/model/schedule"

var allreduceReduceBcast = Algorithm{
	Op:     schedule.Allreduce,
	Name:   "reduce-bcast",
	Info:   "binomial reduce to rank 0, then binomial bcast",
	Rounds: "2 lg P",
	Volume: "s lg P",
	Step:   allreduceReduceBcastStep,
}

func allreduceReduceBcastStep(in *Instance, me, step int, b *schedule.Block) bool {
	first := treeUpSteps(in, me, 2)
	if step < first {
		return treeUp(in, me, 2, step, in.Size, b)
	}
	return treeDown(in, me, 2, step-first, in.Size, b)
}
