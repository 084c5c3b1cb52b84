package collective

import "slackline/model/schedule"

var barrierBinomial = Algorithm{
	Op:     schedule.Barrier,
	Name:   "binomial",
	Info:   "up a binomial tree to rank 0 and down again",
	Rounds: "2 lg P",
	Volume: "lg P",
	Step:   barrierBinomialStep,
}

func barrierBinomialStep(in *Instance, me, step int, b *schedule.Block) bool {
	children := treeChildren(me, 2, in.Ranks)
	if children == 0 {
		step++
	}
	switch step {
	case 0:
		for i := range children {
			b.Recv(treeChild(me, 2, i), barrierBytes, 0)
		}
		return true
	case 1:
		if me > 0 {
			b.Send(treeParent(me, 2, in.Ranks), barrierBytes, 0)
		}
		return in.Ranks > 1
	}
	return treeDown(in, me, 2, step-2, barrierBytes, b)
}
