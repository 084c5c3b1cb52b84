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
		Reduce(b, in.Size)
		return true
	}
	partner := c.member(c.rank ^ 1<<round)
	b.Send(partner, in.Size, 0)
	b.Recv(partner, in.Size, 0)
	return true
}

// foldedStep is the part of a rank outside the core in an allreduce: it gives its vector away and
// waits for the result.
func foldedStep(in *Instance, me, round int, reduces bool, b *schedule.Block) bool {
	switch {
	case round > 1 || round == 1 && reduces:
		return false
	case reduces: // its host is combining
	case round == 0:
		b.Send(me+1, in.Size, 0)
	default:
		b.Recv(me+1, in.Size, 0)
	}
	return true
}

// hostStep is what a host does for its folded rank: in round 0 take its vector and combine it, in
// the last one give it the result.
func hostStep(in *Instance, me, round int, reduces bool, b *schedule.Block) bool {
	switch {
	case round == 0 && reduces:
		Reduce(b, in.Size)
	case round == 0:
		b.Recv(me-1, in.Size, 0)
	case reduces:
		return false
	default:
		b.Send(me-1, in.Size, 0)
	}
	return true
}
