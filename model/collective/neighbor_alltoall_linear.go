package collective

import "slackline/model/schedule"

var neighborAlltoallLinear = Algorithm{
	Op:     schedule.NeighborAlltoall,
	Name:   "linear",
	Info:   "all sends and receives with the neighbors at once",
	Rounds: "1",
	Volume: "s d",
	Step:   neighborAlltoallLinearStep,
}

func neighborAlltoallLinearStep(in *Instance, _, step int, b *schedule.Block) bool {
	return exchangeWithNeighbors(in, step, b)
}
