package collective

import "slackline/model/schedule"

var scanLinear = Algorithm{
	Op:     schedule.Scan,
	Name:   "linear",
	Info:   "each rank waits for the result of the rank before it, adds its vector and passes it on",
	Rounds: "P - 1",
	Volume: "s",
	Step:   scanLinearStep,
}

func scanLinearStep(in *Instance, me, step int, b *schedule.Block) bool {
	return scanChain(in, me, step, me > 0, b)
}
