package collective

import "slackline/model/schedule"

var reduceScatterRecursiveHalving = Algorithm{
	Op:     schedule.ReduceScatter,
	Name:   "recursive-halving",
	Info:   "pairs at distance P/2, P/4, ... exchange halves of what is left; extra ranks are folded in",
	Rounds: "lg P",
	Volume: "s (P - 1)",
	Step:   reduceScatterRecursiveHalvingStep,
}

func reduceScatterRecursiveHalvingStep(in *Instance, me, step int, b *schedule.Block) bool {
	c := fold(me, in.Ranks)
	round, reduces := in.round(step)
	switch c.role {
	case folded:
		switch {
		case round > 1 || round == 1 && reduces:
			return false
		case reduces: // its host is combining
		case round == 0:
			b.Send(me+1, in.all(), 0)
		default:
			b.Recv(me+1, in.part(me), 0)
		}
		return true
	case host:
		switch {
		case round == 0 && reduces:
			in.reduce(b, in.all())
			return true
		case round == 0:
			b.Recv(me-1, in.all(), 0)
			return true
		case round == c.rounds()+1:
			if !reduces {
				b.Send(me-1, in.part(me-1), 0)
			}
			return !reduces
		}
		round--
	}
	if round >= c.rounds() {
		return false
	}
	half := c.size >> (round + 1)
	keep := c.rank &^ (half - 1)
	give := keep ^ half
	kept := in.bytes(c.first(keep), c.first(keep+half))
	if reduces {
		in.reduce(b, kept)
		return true
	}
	partner := c.member(c.rank ^ half)
	b.Send(partner, in.bytes(c.first(give), c.first(give+half)), 0)
	b.Recv(partner, kept, 0)
	return true
}
