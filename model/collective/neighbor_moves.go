package collective

import "slackline/model/schedule"

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
