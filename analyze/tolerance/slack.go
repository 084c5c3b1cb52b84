package tolerance

import (
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
	b := backward{timed: t, ways: times{start: make([]int64, len(t.ops)), end: make([]int64, len(t.ops))}}
	if t.blocks != nil {
		b.ways.block = make([]int64, len(t.blocks.before))
	}
	slack := &Slack{Graph: t.graph, Ops: make([]unit.Duration, len(t.ops)), Messages: make([]unit.Duration, len(t.ops))}
	for i := len(t.order.points) - 1; i >= 0; i-- {
		p := t.order.points[i]
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
		way := &b.ways.start[tail.op()]
		if tail.isEnd() {
			way = &b.ways.end[tail.op()]
		}
		spent := int64(0)
		if w != waitFor {
			spent = b.edge(w, head).length()
		}
		*way = max(*way, length+spent)
	})
}
