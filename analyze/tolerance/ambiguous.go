package tolerance

import (
	"fmt"

	"slackline/model/schedule"
)

// ambiguous warns of receives from any source that would also take a message of another sender: which
// one they get may depend on the latency, but the model pairs them in the order of the file.
func (s *Schedule) ambiguous() []string {
	if !s.stream.Shape().Wildcards {
		return nil
	}
	senders := make([]senders, s.ranks)
	s.each(func(rank int, op *schedule.Op) {
		if op.Kind == schedule.Send {
			senders[op.Peer].add(op, int32(rank))
		}
	})
	count, first, index, last := 0, "", 0, -1
	s.each(func(rank int, op *schedule.Op) {
		if rank != last {
			last, index = rank, 0
		}
		if op.Kind == schedule.Recv && op.Peer == schedule.AnySource && senders[rank].several(op) {
			if count++; count == 1 {
				first = fmt.Sprintf("rank %d %s", rank, s.Name(rank, index))
			}
		}
		index++
	})
	if count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of the receives from any source, the first is %s, could take the message of another sender "+
		"if latencies change; they are paired in file order, so the results may not hold for other latencies", count, first)}
}

// senders lists which ranks send to a rank.
type senders struct {
	byTag map[tagKey]sender
	any   map[uint8]sender // by context
}

type tagKey struct {
	tag     uint32
	context uint8
}

// sender is one rank, or several.
type sender struct {
	rank    int32
	several bool
}

func (s *senders) add(op *schedule.Op, from int32) {
	if s.byTag == nil {
		s.byTag, s.any = map[tagKey]sender{}, map[uint8]sender{}
	}
	addSender(s.byTag, tagKey{op.Tag, op.World()}, from)
	addSender(s.any, op.World(), from)
}

func addSender[K comparable](by map[K]sender, key K, from int32) {
	if old, ok := by[key]; !ok {
		by[key] = sender{rank: from}
	} else if old.rank != from {
		by[key] = sender{several: true}
	}
}

// several reports whether a receive from any source accepts messages of more than one rank.
func (s *senders) several(op *schedule.Op) bool {
	if op.Tag == schedule.AnyTag {
		return s.any[op.Context].several
	}
	return s.byTag[tagKey{op.Tag, op.Context}].several
}
