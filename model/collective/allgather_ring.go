package collective

import "slackline/model/schedule"

var allgatherRing = Algorithm{
	Op:     schedule.Allgather,
	Name:   "ring",
	Info:   "in each round a rank passes on the block that it got last",
	Rounds: "P - 1",
	Volume: "s (P - 1)",
	Step:   allgatherRingStep,
}

func allgatherRingStep(in *Instance, me, step int, b *schedule.Block) bool {
	p := in.Ranks
	if step >= p-1 {
		return false
	}
	b.Send(wrap(me+1, p), in.part(wrap(me-step, p)), 0)
	b.Recv(wrap(me-1, p), in.part(wrap(me-1-step, p)), 0)
	return true
}
