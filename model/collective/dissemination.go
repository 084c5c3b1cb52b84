package collective

import (
	"math/bits"

	"slackline/model/schedule"
)

// disseminate is a round of the dissemination pattern with messages of size bytes: the send and
// the receive are under way at the same time.
func disseminate(in *Instance, me, round int, size int64, b *schedule.Block) bool {
	if round >= bits.Len(uint(in.Ranks-1)) {
		return false
	}
	distance := 1 << round
	b.Send(wrap(me+distance, in.Ranks), size, 0)
	b.Recv(wrap(me-distance, in.Ranks), size, 0)
	return true
}
