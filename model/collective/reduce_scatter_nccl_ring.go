package collective

import "slackline/model/schedule"

var reduceScatterNCCLRing = Algorithm{
	Op:     schedule.ReduceScatter,
	Name:   "nccl-ring",
	Info:   "NCCL: a ring for each channel; partial results collect contributions",
	Rounds: "P - 1",
	Volume: "s (P - 1)",
	NCCL:   true,
	Step: func(in *Instance, me, step int, b *schedule.Block) bool {
		return ringStep(in, me, step, in.Ranks-1, reduceScatterRingShare, b)
	},
}

// A partial result starts at the rank after its owner.
func reduceScatterRingShare(in *Instance, channel, position, round int) (sent, received int64, combines bool) {
	sent, received, _ = allgatherRingShare(in, channel, wrap(position-1, in.Ranks), round)
	return sent, received, true
}
