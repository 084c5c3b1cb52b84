package collective

import "slackline/model/schedule"

var allgatherNCCLRing = Algorithm{
	Op:     schedule.Allgather,
	Name:   "nccl-ring",
	Info:   "NCCL: a ring for each channel; a rank passes on what it got last",
	Rounds: "P - 1",
	Volume: "s (P - 1)",
	NCCL:   true,
	Step: func(in *Instance, me, step int, b *schedule.Block) bool {
		return ringStep(in, me, step, in.Ranks-1, allgatherRingShare, b)
	},
}

func allgatherRingShare(in *Instance, channel, position, round int) (sent, received int64, combines bool) {
	last := wrap(position-round, in.Ranks) // the position that the block comes from
	before := wrap(last-1, in.Ranks)
	return in.block(in.at(channel, last), channel), in.block(in.at(channel, before), channel), false
}
