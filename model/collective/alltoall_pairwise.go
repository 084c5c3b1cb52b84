package collective

import "slackline/model/schedule"

var alltoallPairwise = Algorithm{
	Op:     schedule.Alltoall,
	Name:   "pairwise",
	Info:   "in round i rank r sends to rank r + i and receives from rank r - i",
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
