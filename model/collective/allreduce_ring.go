package collective

import "slackline/model/schedule"

var allreduceRing = Algorithm{
	Op:     schedule.Allreduce,
	Name:   "ring",
	Info:   "reduce-scatter and then allgather on a ring, with one block per rank",
	Rounds: "2 (P - 1)",
	Volume: "2 s (P - 1) / P",
	parts:  onePerRank,
	Step:   allreduceRingStep,
}

func allreduceRingStep(in *Instance, me, step int, b *schedule.Block) bool {
	p := in.Ranks
	// First part: P - 1 rounds, each followed by a reduction. At its end rank me has block me+1.
	first := p - 1
	if !in.FreeReduce {
		first *= 2
	}
	if step < first {
		round, reduces := in.round(step)
		received := in.part(wrap(me-1-round, p))
		if reduces {
			in.reduce(b, received)
			return true
		}
		b.Send(wrap(me+1, p), in.part(wrap(me-round, p)), 0)
		b.Recv(wrap(me-1, p), received, 0)
		return true
	}
	round := step - first
	if round >= p-1 {
		return false
	}
	b.Send(wrap(me+1, p), in.part(wrap(wrap(me+1, p)-round, p)), 0)
	b.Recv(wrap(me-1, p), in.part(wrap(me-round, p)), 0)
	return true
}
