package collective

import "slackline/model/schedule"

var neighborAllgatherLinear = Algorithm{
	Op:     schedule.NeighborAllgather,
	Name:   "linear",
	Info:   "all sends and receives with the neighbors at once",
	Rounds: "1",
	Volume: "s d",
	Step:   neighborAllgatherLinearStep,
}

func neighborAllgatherLinearStep(in *Instance, _, step int, b *schedule.Block) bool {
	return exchangeWithNeighbors(in, step, b)
}
