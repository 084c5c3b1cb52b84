package collective

import "slackline/model/schedule"

var reduceBinaryPipelined = Algorithm{
	Op:        schedule.Reduce,
	Name:      "binary-pipelined",
	Info:      "binary tree towards the root; the vector travels in segments",
	Rounds:    "lg P + n - 1",
	Volume:    "s",
	Segmented: true,
	Segment:   32 << 10,
	parts:     segments,
	Step:      reduceBinaryPipelinedStep,
}

func reduceBinaryPipelinedStep(in *Instance, me, step int, b *schedule.Block) bool {
	return binaryUp(in, me, step, b)
}
