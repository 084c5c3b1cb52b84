package collective

import "slackline/model/schedule"

var allreduceNCCL = Algorithm{
	Op:     schedule.Allreduce,
	Name:   "nccl",
	Info:   "NCCL: nccl-ring or nccl-tree, whichever its tuning predicts to be faster",
	Rounds: "2 (P - 1)",
	Volume: "2 s (P - 1) / P",
	NCCL:   true,
	even:   true,
	tunes:  []*Algorithm{&allreduceNCCLRing, &allreduceNCCLTree},
	parts:  func(in *Instance) int { return in.picked.parts(in) },
	Step: func(in *Instance, me, step int, b *schedule.Block) bool {
		return in.picked.Step(in, me, step, b)
	},
}
