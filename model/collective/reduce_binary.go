package collective

import "slackline/model/schedule"

var reduceBinary = Algorithm{
	Op:     schedule.Reduce,
	Name:   "binary",
	Info:   "binary tree towards the root with the whole vector",
	Rounds: "lg P",
	Volume: "s",
	Step:   reduceBinaryStep,
}

func reduceBinaryStep(in *Instance, me, step int, b *schedule.Block) bool {
	return binaryUp(in, me, step, b)
}
