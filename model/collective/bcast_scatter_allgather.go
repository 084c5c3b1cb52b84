package collective

import "slackline/model/schedule"

var bcastScatterAllgather = Algorithm{
	Op:     schedule.Bcast,
	Name:   "scatter-allgather",
	Info:   "scatter on a binomial tree, then allgather on a ring",
	Rounds: "lg P + P - 1",
	Volume: "2 s (P - 1) / P",
	parts:  onePerRank,
	Step:   bcastScatterAllgatherStep,
}

func bcastScatterAllgatherStep(in *Instance, me, step int, b *schedule.Block) bool {
	v := in.relative(me)
	first := treeScatterSteps(in, v)
	if step < first {
		return treeScatter(in, v, step, true, b)
	}
	step -= first
	if step >= in.Ranks-1 {
		return false
	}
	b.Send(in.absolute(wrap(v+1, in.Ranks)), in.part(wrap(v-step, in.Ranks)), 0)
	b.Recv(in.absolute(wrap(v-1, in.Ranks)), in.part(wrap(v-1-step, in.Ranks)), 0)
	return true
}
