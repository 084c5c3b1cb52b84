package collective

import "slackline/model/schedule"

var reduceScatterPairwise = Algorithm{
	Op:     schedule.ReduceScatter,
	Name:   "pairwise",
	Info:   "in round i rank r sends its contribution to rank r + i",
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
		in.reduce(b, in.part(me))
		return true
	}
	to := wrap(me+distance, p)
	b.Send(to, in.part(to), 0)
	b.Recv(wrap(me-distance, p), in.part(me), 0)
	return true
}
