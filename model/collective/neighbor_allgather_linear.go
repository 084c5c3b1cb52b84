package collective

import "slackline/model/schedule"

var neighborAllgatherLinear = Algorithm{
	Op:     schedule.NeighborAllgather,
	Name:   "linear",
	Info:   "all sends and receives with the neighbours at once",
	Rounds: "1",
	Volume: "s d",
	Step:   neighborAllgatherLinearStep,
}

func neighborAllgatherLinearStep(in *Instance, _, step int, b *schedule.Block) bool {
	return exchangeWithNeighbors(in, step, b)
}

// exchangeWithNeighbors receives from all sources and sends to all destinations of the call.
func exchangeWithNeighbors(in *Instance, step int, b *schedule.Block) bool {
	if step > 0 {
		return false
	}
	for _, from := range in.Sources {
		b.Recv(int(from), in.Size, 0)
	}
	for _, to := range in.Destinations {
		b.Send(int(to), in.Size, 0)
	}
	return len(b.Ops) > 0
}
