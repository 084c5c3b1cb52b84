package collective

import "slackline/model/schedule"

var exscanRecursiveDoubling = Algorithm{
	Op:     schedule.Exscan,
	Name:   "recursive-doubling",
	Info:   "pairs at distance 1, 2, 4, ... exchange what they have combined",
	Rounds: "lg P",
	Volume: "s lg P",
	Step:   exscanRecursiveDoublingStep,
}

func exscanRecursiveDoublingStep(in *Instance, me, step int, b *schedule.Block) bool {
	return scanDoubling(in, me, step, 1, b)
}
