package collective

import "slackline/model/schedule"

var reduceScatterRing = Algorithm{
	Op:     schedule.ReduceScatter,
	Name:   "ring",
	Info:   "partial results travel around a ring and collect contributions",
	Rounds: "P - 1",
	Volume: "s (P - 1)",
	Step:   reduceScatterRingStep,
}

func reduceScatterRingStep(in *Instance, me, step int, b *schedule.Block) bool {
	p := in.Ranks
	round, reduces := in.round(step)
	if round >= p-1 {
		return false
	}
	before := wrap(me-1, p)
	received := in.part(wrap(before-1-round, p))
	if reduces {
		in.reduce(b, received)
		return true
	}
	b.Send(wrap(me+1, p), in.part(wrap(before-round, p)), 0)
	b.Recv(before, received, 0)
	return true
}
