package collective

import "slackline/model/schedule"

var barrierRecursiveDoubling = Algorithm{
	Op:     schedule.Barrier,
	Name:   "recursive-doubling",
	Info:   "pairs at distance 1, 2, 4, ... exchange; extra ranks are folded in",
	Rounds: "lg P",
	Volume: "lg P",
	Step:   barrierRecursiveDoublingStep,
}

func barrierRecursiveDoublingStep(in *Instance, me, step int, b *schedule.Block) bool {
	c := fold(me, in.Ranks)
	switch c.role {
	case folded:
		switch step {
		case 0:
			b.Send(me+1, barrierBytes, 0)
		case 1:
			b.Recv(me+1, barrierBytes, 0)
		}
		return step < 2
	case host:
		switch {
		case step == 0:
			b.Recv(me-1, barrierBytes, 0)
			return true
		case step == c.rounds()+1:
			b.Send(me-1, barrierBytes, 0)
			return true
		}
		step--
	}
	if step >= c.rounds() {
		return false
	}
	partner := c.member(c.rank ^ 1<<step)
	b.Send(partner, barrierBytes, 0)
	b.Recv(partner, barrierBytes, 0)
	return true
}
