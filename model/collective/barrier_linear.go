package collective

import "slackline/model/schedule"

var barrierLinear = Algorithm{
	Op:     schedule.Barrier,
	Name:   "linear",
	Info:   "all ranks report to rank 0, which then releases them all",
	Rounds: "2",
	Volume: "P - 1",
	Step:   barrierLinearStep,
}

func barrierLinearStep(in *Instance, me, step int, b *schedule.Block) bool {
	if step == 0 {
		return linearUp(in, me, 0, 0, barrierBytes, b)
	}
	return linearDown(in, me, 0, step-1, barrierBytes, b)
}
