package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"slackline/model/schedule"
)

// plainQueue is a queue without any index.
type plainQueue []item

func (q *plainQueue) take(fits func(it *item) bool) (int32, bool) {
	for i := range *q {
		if it := (*q)[i]; fits(&it) {
			*q = slices.Delete(*q, i, i+1)
			return it.id, true
		}
	}
	return 0, false
}

func accept(receive, message *item) bool {
	return receive.ctx == message.ctx &&
		(receive.source == schedule.AnySource || receive.source == message.source) &&
		(receive.tag == schedule.AnyTag || receive.tag == message.tag)
}

// A queue finds what a plain list finds, short or long, with wildcards or without.
func TestQueue(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		messages := seed%2 == 0
		spread := 1 + r.IntN(60)
		pushes := 1 + r.IntN(9) // of 10 steps
		draw := func(wild bool, id int32) item {
			it := item{source: int32(r.IntN(spread)), tag: uint32(r.IntN(spread)), ctx: uint8(r.IntN(2)), id: id}
			if wild && r.IntN(3) == 0 {
				it.source = schedule.AnySource
			}
			if wild && r.IntN(3) == 0 {
				it.tag = schedule.AnyTag
			}
			return it
		}
		var q queue
		var plain plainQueue
		for step := range int32(4000) {
			if r.IntN(10) < pushes {
				it := draw(!messages, step)
				if messages {
					q.pushMessage(it)
				} else {
					q.pushReceive(it)
				}
				plain = append(plain, it)
			} else {
				it := draw(messages, 0)
				var got, want int32
				var found, exists bool
				if messages {
					got, found = q.takeMessage(it.source, it.tag, it.ctx)
					want, exists = plain.take(func(m *item) bool { return accept(&it, m) })
				} else {
					got, found = q.takeReceive(it.source, it.tag, it.ctx)
					want, exists = plain.take(func(m *item) bool { return accept(m, &it) })
				}
				if got != want || found != exists {
					t.Fatalf("seed %d, step %d: took %d (%t), want %d (%t)", seed, step, got, found, want, exists)
				}
			}
			if q.len() != len(plain) {
				t.Fatalf("seed %d, step %d: length %d, want %d", seed, step, q.len(), len(plain))
			}
		}
		if !slices.Equal(q.list(), plain) {
			t.Errorf("seed %d: the queue holds %v, want %v", seed, q.list(), plain)
		}
	}
}
