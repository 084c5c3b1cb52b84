package collective

import "slackline/model/schedule"

var exscanLinear = Algorithm{
	Op:     schedule.Exscan,
	Name:   "linear",
	Info:   "each rank waits for the result of the rank before it, adds its vector and passes it on",
	Rounds: "P - 1",
	Volume: "s",
	Step:   exscanLinearStep,
}

func exscanLinearStep(in *Instance, me, step int, b *schedule.Block) bool {
	return scanChain(in, me, step, me > 0 && me < in.Ranks-1, b)
}
