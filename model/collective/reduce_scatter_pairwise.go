package collective

import "slackline/model/schedule"

var reduceScatterPairwise = Algorithm{
	Op:     schedule.ReduceScatter,
	Name:   "pairwise",
	Info:   "in round i a rank sends its contribution to the one i behind it",
	Rounds: "P - 1",
	Volume: "s (P - 1)",
	Step:   reduceScatterPairwiseStep,
}

func reduceScatterPairwiseStep(in *Instance, me, step int, b *schedule.Block) bool {
	p := in.Ranks
	round, reduces := in.round(step)
	distance := round + 1
	if distance >= p {
		return false
	}
	if reduces {
		Reduce(b, in.part(me))
		return true
	}
	to := wrap(me+distance, p)
	b.Send(to, in.part(to), 0)
	b.Recv(wrap(me-distance, p), in.part(me), 0)
	return true
}
