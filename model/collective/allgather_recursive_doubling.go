package collective

import "slackline/model/schedule"

var allgatherRecursiveDoubling = Algorithm{
	Op:     schedule.Allgather,
	Name:   "recursive-doubling",
	Info:   "pairs at distance 1, 2, 4, ... exchange all they have; extra ranks are folded in",
	Rounds: "lg P",
	Volume: "s (P - 1)",
	Step:   allgatherRecursiveDoublingStep,
}

func allgatherRecursiveDoublingStep(in *Instance, me, step int, b *schedule.Block) bool {
	return doublingGather(in, me, step, 0, b)
}
