package collective

import "slackline/model/schedule"

var bcastLinear = Algorithm{
	Op:     schedule.Bcast,
	Name:   "linear",
	Info:   "the root sends to every other rank",
	Rounds: "1",
	Volume: "s (P - 1)",
	Step:   bcastLinearStep,
}

func bcastLinearStep(in *Instance, me, step int, b *schedule.Block) bool {
	return linearDown(in, me, int(in.Root), step, in.Size, b)
}
