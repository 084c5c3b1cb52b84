package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

// disseminate is a round of the dissemination pattern with messages of size bytes: all sends and
// receives are under way at the same time. With radix k a rank sends to k - 1 others, those at 1 to
// k - 1 times k^round; what would go around the whole ring is left out. It returns the number of
// messages received; 0: there is no such round.
func disseminate(in *Instance, me, round int, size int64, b *schedule.Block) int {
	if to, from, ok := in.partners(me, round); ok {
		b.Send(int(to), size, 0)
		b.Recv(int(from), size, 0)
		return 1
	}
	distance, last := in.distances(round)
	for d := distance; d <= last; d += distance {
		b.Send(wrap(me+d, in.Ranks), size, 0)
	}
	for d := distance; d <= last; d += distance {
		b.Recv(wrap(me-d, in.Ranks), size, 0)
	}
	return max(last/max(distance, 1), 0)
}

// distances returns how far the messages of a round go: multiples of the first up to the last, which is
// below the first if there is no such round.
func (in *Instance) distances(round int) (first, last int) {
	first = 1
	for range round {
		if first > (in.Ranks-1)/in.Radix {
			return 1, 0
		}
		first *= in.Radix
	}
	return first, min((in.Ranks-1)/first, in.Radix-1) * first
}

// partners returns with whom a rank exchanges messages in a round of the dissemination pattern, if
// that is one send and one receive: the radix is 2.
func (in *Instance) partners(me, round int) (to, from int32, ok bool) {
	if in.Radix != 2 || round >= bits.Len(uint(in.Ranks-1)) {
		return 0, 0, false
	}
	distance := 1 << round
	return int32(wrap(me+distance, in.Ranks)), int32(wrap(me-distance, in.Ranks)), true
}
