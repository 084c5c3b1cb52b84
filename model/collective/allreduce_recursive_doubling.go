package collective

import "slackline/model/schedule"

var allreduceRecursiveDoubling = Algorithm{
	Op:     schedule.Allreduce,
	Name:   "recursive-doubling",
	Info:   "pairs at distance 1, 2, 4, ... exchange the vector; extra ranks are folded in",
	Rounds: "lg P",
	Volume: "s lg P",
	Step:   allreduceRecursiveDoublingStep,
}

func allreduceRecursiveDoublingStep(in *Instance, me, step int, b *schedule.Block) bool {
	c := fold(me, in.Ranks)
	round, reduces := in.round(step)
	switch c.role {
	case folded:
		return foldedStep(in, me, round, reduces, b)
	case host:
		if round == 0 || round == c.rounds()+1 {
			return hostStep(in, me, round, reduces, b)
		}
		round--
	}
	if round >= c.rounds() {
		return false
	}
	if reduces {
		in.reduce(b, in.Size)
		return true
	}
	partner := c.member(c.rank ^ 1<<round)
	b.Send(partner, in.Size, 0)
	b.Recv(partner, in.Size, 0)
	return true
}
