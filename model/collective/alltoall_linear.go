package collective

import "slackline/model/schedule"

var alltoallLinear = Algorithm{
	Op:     schedule.Alltoall,
	Name:   "linear",
	Info:   "all sends and receives at once; rank r begins with rank r + 1",
	Rounds: "1",
	Volume: "s (P - 1)",
	Step:   alltoallLinearStep,
}

func alltoallLinearStep(in *Instance, me, step int, b *schedule.Block) bool {
	p := in.Ranks
	if step > 0 || p == 1 {
		return false
	}
	for i := 1; i < p; i++ {
		from := wrap(me-i, p)
		b.Recv(from, in.pair(from, me), 0)
	}
	for i := 1; i < p; i++ {
		to := wrap(me+i, p)
		b.Send(to, in.pair(me, to), 0)
	}
	return true
}
