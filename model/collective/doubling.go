package collective

import "slackline/model/schedule"

// doublingGather is an allgather by recursive doubling. Ranks and blocks are counted from the
// rank called shift on.
func doublingGather(in *Instance, v, step, shift int, b *schedule.Block) bool {
	c := fold(v, in.Ranks)
	peer := func(v int) int { return wrap(v+shift, in.Ranks) }
	switch c.role {
	case folded:
		switch step {
		case 0:
			b.Send(peer(v+1), in.part(v), 0)
		case 1:
			b.Recv(peer(v+1), in.all()-in.part(v), 0)
		}
		return step < 2
	case host:
		switch {
		case step == 0:
			b.Recv(peer(v-1), in.part(v-1), 0)
			return true
		case step == c.rounds()+1:
			b.Send(peer(v-1), in.all()-in.part(v-1), 0)
			return true
		}
		step--
	}
	if step >= c.rounds() {
		return false
	}
	n := 1 << step
	mine := c.rank &^ (n - 1)
	theirs := mine ^ n
	partner := peer(c.member(c.rank ^ n))
	b.Send(partner, in.bytes(c.first(mine), c.first(mine+n)), 0)
	b.Recv(partner, in.bytes(c.first(theirs), c.first(theirs+n)), 0)
	return true
}
