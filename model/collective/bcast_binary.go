package collective

import "slackline/model/schedule"

var bcastBinary = Algorithm{
	Op:     schedule.Bcast,
	Name:   "binary",
	Info:   "binary tree with the whole message",
	Rounds: "lg P",
	Volume: "2 s",
	Step:   bcastBinaryStep,
}

func bcastBinaryStep(in *Instance, me, step int, b *schedule.Block) bool {
	return binaryDown(in, me, step, b)
}
