package tolerance

import (
	"cmp"
	"maps"
	"slices"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// Slack describes how much later things may happen before T grows. Each number holds for one delay alone.
type Slack struct {
	// Graph are the operations, in their order.
	Graph *schedule.Graph
	// Ops is, by operation counted over all ranks, the largest delay of its start that leaves T as
	// it is. For a receive it is how much later it may be posted, not how long it may wait.
	Ops []unit.Duration
	// Messages is, at the place of each receive, the largest delay of the arrival of its message;
	// 0 at the other operations.
	Messages []unit.Duration
}

// Slack computes the slack of every operation and every message:
// T - (time of the point) - (longest way from there to any end). All operations must be in memory for it.
func (e *Evaluation) Slack() (*Slack, error) {
	t, err := e.timed()
	if err != nil {
		return nil, err
	}
	b := backward{timed: t, ways: t.newTimes()}
	slack := &Slack{Graph: t.graph, Ops: make([]unit.Duration, len(t.ops)), Messages: make([]unit.Duration, len(t.ops))}
	for _, p := range slices.Backward(t.order.points) {
		op := p.op()
		if p.isEnd() || t.order.protocol.impliesEnd(t.whole, op) {
			b.passEnd(op)
			if t.ops[op].Kind == schedule.Recv {
				arrival := t.times.end[t.partner[op]] + t.edge(carry, p).length()
				slack.Messages[op] = e.T - unit.Duration(arrival+b.ways.end[op])
			}
		}
		if !p.isEnd() {
			b.passStart(op)
			slack.Ops[op] = e.T - unit.Duration(t.times.start[op]+b.ways.start[op])
		}
	}
	return slack, nil
}

// backward holds the longest ways from points to any end.
type backward struct {
	*timed
	ways times
}

// passEnd hands the way from an end on to all points that lead to it.
func (b *backward) passEnd(op uint32) {
	if b.blocks != nil && b.endsBlock(op) {
		b.ways.end[op] = max(b.ways.end[op], b.ways.block[b.blocks.of[op]])
	}
	b.pass(endOf(op), b.ways.end[op])
}

// passStart hands the way from a start on to all points that lead to it.
func (b *backward) passStart(op uint32) {
	b.pass(startOf(op), b.ways.start[op])
	if block, ok := b.blockBefore(startOf(op)); ok {
		b.ways.block[block] = max(b.ways.block[block], b.ways.start[op])
	}
}

func (b *backward) pass(head point, length int64) {
	b.into(head, func(tail point, w way) {
		way := b.ways.of(tail)
		*way = max(*way, length+b.edge(w, head).length())
	})
}

// SlackSummary is how much slack the operations of one origin and kind have.
type SlackSummary struct {
	Origin   uint32        `json:"-"` // index into Program.Origins
	Kind     schedule.Kind `json:"-"`
	Ops      int           `json:"ops"`
	Critical int           `json:"critical"` // without slack
	Smallest unit.Duration `json:"smallest_ns"`
	Median   unit.Duration `json:"median_ns"`
	Largest  unit.Duration `json:"largest_ns"`
}

// Summary gathers the slack of operations by origin and kind, those with the smallest slack first.
// The slack of a receive is that of its message: how late that may arrive.
func (s *Slack) Summary() []SlackSummary {
	type key struct {
		origin uint32
		kind   schedule.Kind
	}
	groups := map[key][]unit.Duration{}
	for i, op := range s.Graph.Ops() {
		slack := s.Ops[i]
		if op.Kind == schedule.Recv {
			slack = s.Messages[i]
		}
		k := key{op.Origin, op.Kind}
		groups[k] = append(groups[k], slack)
	}
	keys := slices.SortedFunc(maps.Keys(groups), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.origin, b.origin), cmp.Compare(a.kind, b.kind))
	})
	var list []SlackSummary
	for _, k := range keys {
		group := groups[k]
		slices.Sort(group)
		critical, _ := slices.BinarySearch(group, 1) // the place of 1 is after all that have none
		list = append(list, SlackSummary{
			Origin: k.origin, Kind: k.kind, Ops: len(group), Critical: critical,
			Smallest: group[0], Median: group[(len(group)-1)/2], Largest: group[len(group)-1],
		})
	}
	slices.SortStableFunc(list, func(a, b SlackSummary) int {
		return cmp.Or(cmp.Compare(a.Smallest, b.Smallest), cmp.Compare(b.Critical, a.Critical))
	})
	return list
}
