package collective

import "slackline/model/schedule"

var scatterLinear = Algorithm{
	Op:     schedule.Scatter,
	Name:   "linear",
	Info:   "the root sends to every other rank",
	Rounds: "1",
	Volume: "s (P - 1)",
	Step:   scatterLinearStep,
}

func scatterLinearStep(in *Instance, me, step int, b *schedule.Block) bool {
	return linearScatter(in, me, int(in.Root), step, b)
}
