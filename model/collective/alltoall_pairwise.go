package collective

import "slackline/model/schedule"

var alltoallPairwise = Algorithm{
	Op:     schedule.Alltoall,
	Name:   "pairwise",
	Info:   "in round i a rank sends to the one i behind it and receives from the one i before it",
	Rounds: "P - 1",
	Volume: "s (P - 1)",
	Step:   alltoallPairwiseStep,
}

func alltoallPairwiseStep(in *Instance, me, step int, b *schedule.Block) bool {
	p := in.Ranks
	distance := step + 1
	if distance >= p {
		return false
	}
	to, from := wrap(me+distance, p), wrap(me-distance, p)
	b.Send(to, in.pair(me, to), 0)
	b.Recv(from, in.pair(from, me), 0)
	return true
}
