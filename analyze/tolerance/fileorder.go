package tolerance

import (
	"cmp"
	"fmt"
	"slices"

	"slackline/model/schedule"
)

// findFileOrder fills s.fileShift if the ranks do not ascend in the file.
func (s *Schedule) findFileOrder() {
	g := s.graph
	var ranks []int // those with operations
	for rank := range g.Ranks() {
		if g.FirstOp(rank) < g.FirstOp(rank+1) {
			ranks = append(ranks, rank)
		}
	}
	byLine := func(a, b int) int { return cmp.Compare(g.Line(a, 0), g.Line(b, 0)) }
	if slices.IsSortedFunc(ranks, byLine) {
		return
	}
	slices.SortStableFunc(ranks, byLine)
	s.fileShift = make([]int, g.Ranks())
	next := 0
	for _, rank := range ranks {
		s.fileShift[rank] = next - g.FirstOp(rank)
		next += g.FirstOp(rank+1) - g.FirstOp(rank)
	}
}

// fileNumber numbers points by the place of their operation in the file.
func (s *Schedule) fileNumber(p point) uint64 {
	if s.fileShift == nil {
		return uint64(p)
	}
	rank, _ := s.graph.Find(int(p.op()))
	return uint64(int(p) + 2*s.fileShift[rank])
}

// ambiguous warns of receives from any source that would also take a message of another sender: which
// one they get may depend on the latency, but the model pairs them in the order of the file.
func (s *Schedule) ambiguous() []string {
	if !s.graph.Shape().Wildcards {
		return nil
	}
	senders := make([]senders, s.graph.Ranks())
	for i := range s.ops {
		op := &s.ops[i]
		if op.Kind == schedule.Send {
			senders[op.Peer].add(op, int32(s.source(uint32(i))))
		}
	}
	count, first := 0, -1
	for rank := range s.graph.Ranks() {
		for i := s.graph.FirstOp(rank); i < s.graph.FirstOp(rank+1); i++ {
			op := &s.ops[i]
			if op.Kind == schedule.Recv && op.Peer == schedule.AnySource && senders[rank].several(op) {
				if count++; first < 0 {
					first = i
				}
			}
		}
	}
	if count == 0 {
		return nil
	}
	rank, index := s.graph.Find(first)
	return []string{fmt.Sprintf("%d of the receives from any source, the first is rank %d %s, could take the message of another sender "+
		"if latencies change; they are paired in file order, so the results may not hold for other latencies",
		count, rank, s.graph.Name(rank, index))}
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
	key := tagKey{op.Tag, op.World()}
	if old, ok := s.byTag[key]; !ok {
		s.byTag[key] = sender{rank: from}
	} else if old.rank != from && !old.several {
		s.byTag[key] = sender{several: true}
	}
	if old, ok := s.any[op.World()]; !ok {
		s.any[op.World()] = sender{rank: from}
	} else if old.rank != from && !old.several {
		s.any[op.World()] = sender{several: true}
	}
}

// several reports whether a receive from any source accepts messages of more than one rank.
func (s *senders) several(op *schedule.Op) bool {
	if op.Tag == schedule.AnyTag {
		return s.any[op.Context].several
	}
	return s.byTag[tagKey{op.Tag, op.Context}].several
}
