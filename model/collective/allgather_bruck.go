package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

var allgatherBruck = Algorithm{
	Op:     schedule.Allgather,
	Name:   "bruck",
	Info:   "dissemination with growing messages: in round i rank r sends all that it has to rank r - 2^i",
	Rounds: "lg P",
	Volume: "s (P - 1)",
	Step:   allgatherBruckStep,
}

func allgatherBruckStep(in *Instance, me, step int, b *schedule.Block) bool {
	p := in.Ranks
	if step >= bits.Len(uint(p-1)) {
		return false
	}
	distance := 1 << step
	n := min(distance, p-distance)
	from := wrap(me+distance, p)
	b.Send(wrap(me-distance, p), in.around(me, n), 0)
	b.Recv(from, in.around(from, n), 0)
	return true
}
