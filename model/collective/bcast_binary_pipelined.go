package collective

import "slackline/model/schedule"

var bcastBinaryPipelined = Algorithm{
	Op:        schedule.Bcast,
	Name:      "binary-pipelined",
	Info:      "binary tree; the message travels in segments",
	Rounds:    "lg P + n - 1",
	Volume:    "2 s",
	Segmented: true,
	Segment:   32 << 10,
	parts:     segments,
	Step:      bcastBinaryPipelinedStep,
}

func bcastBinaryPipelinedStep(in *Instance, me, step int, b *schedule.Block) bool {
	return binaryDown(in, me, step, b)
}
