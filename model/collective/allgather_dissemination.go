package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

var allgatherDissemination = Algorithm{
	Op:     schedule.Allgather,
	Name:   "dissemination",
	Info:   "in round i rank r sends all that it has to rank r + 2^i; the direction of the other disseminations, against that of bruck",
	Rounds: "lg P",
	Volume: "s (P - 1)",
	Step:   allgatherDisseminationStep,
}

func allgatherDisseminationStep(in *Instance, me, step int, b *schedule.Block) bool {
	p := in.Ranks
	if step >= bits.Len(uint(p-1)) {
		return false
	}
	distance := 1 << step
	n := min(distance, p-distance)
	from := wrap(me-distance, p)
	b.Send(wrap(me+distance, p), in.around(wrap(me-n+1, p), n), 0)
	b.Recv(from, in.around(wrap(from-n+1, p), n), 0)
	return true
}
