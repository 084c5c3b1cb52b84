package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

var barrierDissemination = Algorithm{
	Op:     schedule.Barrier,
	Name:   "dissemination",
	Info:   "in round i each rank sends to the rank 2^i behind it and receives from the one 2^i before it",
	Rounds: "lg P",
	Volume: "lg P",
	Step:   barrierDisseminationStep,
}

// barrierBytes is the size of the messages of a barrier.
const barrierBytes = 1

func barrierDisseminationStep(in *Instance, me, step int, b *schedule.Block) bool {
	return disseminate(in, me, step, barrierBytes, b)
}

// disseminate is a round of the dissemination pattern with messages of size bytes: the send and
// the receive are under way at the same time.
func disseminate(in *Instance, me, round int, size int64, b *schedule.Block) bool {
	if round >= bits.Len(uint(in.Ranks-1)) {
		return false
	}
	distance := 1 << round
	b.Send(wrap(me+distance, in.Ranks), size, 0)
	b.Recv(wrap(me-distance, in.Ranks), size, 0)
	return true
}
