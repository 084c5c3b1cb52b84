package collective

import "slackline/model/schedule"

var scanRecursiveDoubling = Algorithm{
	Op:     schedule.Scan,
	Name:   "recursive-doubling",
	Info:   "pairs at distance 1, 2, 4, ... exchange what they have combined",
	Rounds: "lg P",
	Volume: "s lg P",
	Step:   scanRecursiveDoublingStep,
}

func scanRecursiveDoublingStep(in *Instance, me, step int, b *schedule.Block) bool {
	return scanDoubling(in, me, step, 2, b)
}
