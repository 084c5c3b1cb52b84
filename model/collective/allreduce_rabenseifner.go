package collective

import "slackline/model/schedule"

var allreduceRabenseifner = Algorithm{
	Op:     schedule.Allreduce,
	Name:   "rabenseifner",
	Info:   "reduce-scatter by recursive halving, then allgather by recursive doubling; extra ranks are folded in",
	Rounds: "2 lg P",
	Volume: "2 s (P - 1) / P",
	parts:  onePerCoreRank,
	Step:   allreduceRabenseifnerStep,
}

func allreduceRabenseifnerStep(in *Instance, me, step int, b *schedule.Block) bool {
	c := fold(me, in.Ranks)
	if c.role == folded {
		round, reduces := in.round(step)
		return foldedStep(in, me, round, reduces, b)
	}
	if c.role == host {
		round, reduces := in.round(step)
		if round == 0 {
			return hostStep(in, me, 0, reduces, b)
		}
		if step -= 2; in.FreeReduce {
			step++
		}
	}
	step, halves := in.halve(&c, step, c.member, b)
	if halves {
		return true
	}
	n := c.rounds()
	if step < n {
		round := n - 1 - step // back the way of the first part
		other := c.rank ^ 1<<round
		partner := c.member(other)
		b.Send(partner, in.halfBytes(&c, c.rank, round), 0)
		b.Recv(partner, in.halfBytes(&c, other, round), 0)
		return true
	}
	if step == n && c.role == host {
		b.Send(me-1, in.Size, 0)
		return true
	}
	return false
}
