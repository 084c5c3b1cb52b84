package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

// disseminate is a round of the dissemination pattern with messages of size bytes: the send and
// the receive are under way at the same time.
func disseminate(in *Instance, me, round int, size int64, b *schedule.Block) bool {
	to, from, ok := in.partners(me, round)
	if !ok {
		return false
	}
	b.Send(int(to), size, 0)
	b.Recv(int(from), size, 0)
	return true
}

// partners returns with whom a rank exchanges messages in a round of the dissemination pattern.
func (in *Instance) partners(me, round int) (to, from int32, ok bool) {
	if round >= bits.Len(uint(in.Ranks-1)) {
		return 0, 0, false
	}
	distance := 1 << round
	return int32(wrap(me+distance, in.Ranks)), int32(wrap(me-distance, in.Ranks)), true
}
