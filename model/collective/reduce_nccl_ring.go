package collective

import "slackline/model/schedule"

var reduceNCCLRing = Algorithm{
	Op:        schedule.Reduce,
	Name:      "nccl-ring",
	Info:      "NCCL: along the ring of each channel to the root, in segments",
	Rounds:    "P + n - 2",
	Volume:    "s",
	Segmented: true,
	Segment:   512 << 10,
	NCCL:      true,
	even:      true,
	parts:     func(in *Instance) int { return evenSegments(in, in.paths) },
	Step: func(in *Instance, me, step int, b *schedule.Block) bool {
		return chainStep(in, me, step, 1, true, b)
	},
}
