package collective

import "slackline/model/schedule"

var allgatherNeighborExchange = Algorithm{
	Op:     schedule.Allgather,
	Name:   "neighbor-exchange",
	Info:   "a rank exchanges pairs of blocks with its two neighbors in turn; a ring if P is odd",
	Rounds: "P / 2",
	Volume: "s (P - 1)",
	Step:   allgatherNeighborExchangeStep,
}

func allgatherNeighborExchangeStep(in *Instance, me, step int, b *schedule.Block) bool {
	p := in.Ranks
	if p%2 != 0 {
		return allgatherRingStep(in, me, step, b)
	}
	if step >= p/2 {
		return false
	}
	// Ranks form pairs (0,1), (2,3), ... In even rounds a rank exchanges with the other one of
	// its pair, in odd rounds with its neighbor on the other side.
	neighbor := me ^ 1
	if step%2 != 0 {
		neighbor = wrap(me-(neighbor-me), p)
	}
	if step == 0 {
		b.Send(neighbor, in.part(me), 0)
		b.Recv(neighbor, in.part(neighbor), 0)
		return true
	}
	send, recv := exchangedPair(me, step-1, p), exchangedPair(me, step, p)
	b.Send(neighbor, in.bytes(send, send+2), 0)
	b.Recv(neighbor, in.bytes(recv, recv+2), 0)
	return true
}

// exchangedPair returns the first block of the pair that a rank gets in a round; before round 1 it
// has its own pair. Pairs come from both sides in turn, and from farther away each time.
func exchangedPair(me, round, p int) int {
	if round == 0 {
		return me &^ 1
	}
	away := (round + 1) / 2 * 2
	if (round+me)%2 != 0 {
		away = -away
	}
	return wrap(me&^1+away, p)
}
