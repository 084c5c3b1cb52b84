package collective

import "slackline/model/schedule"

var allreduceNCCLRing = Algorithm{
	Op:     schedule.Allreduce,
	Name:   "nccl-ring",
	Info:   "NCCL: reduce-scatter and then allgather on a ring for each channel",
	Rounds: "2 (P - 1)",
	Volume: "2 s (P - 1) / P",
	NCCL:   true,
	parts:  func(in *Instance) int { return in.Ranks * in.paths },
	Step: func(in *Instance, me, step int, b *schedule.Block) bool {
		return ringStep(in, me, step, 2*(in.Ranks-1), allreduceRingShare, b)
	},
}

func allreduceRingShare(in *Instance, channel, position, round int) (sent, received int64, combines bool) {
	p := in.Ranks
	if combines = round < p-1; !combines {
		round -= p // at the end of the first part the rank has the block after its own
	}
	block := wrap(position-round, p)
	return in.block(block, channel), in.block(wrap(block-1, p), channel), combines
}
