package tolerance

import (
	"slackline/model/schedule"
	"slackline/model/unit"
)

// Slack describes how much later things may happen before T grows. Each number holds for one delay alone.
type Slack struct {
	// Ops is, by operation counted over all ranks, the largest delay of its start that leaves T as
	// it is. For a receive it is how much later it may be posted, not how long it may wait.
	Ops []unit.Duration
	// Messages is, at the place of each receive, the largest delay of the arrival of its message;
	// 0 at the other operations.
	Messages []unit.Duration
}

// Slack computes the slack of every operation and every message:
// T - (time of the point) - (longest way from there to any end).
func (e *Evaluation) Slack() (*Slack, error) {
	costs, err := newCoster(e.s, e.n)
	if err != nil {
		return nil, err
	}
	costs.gaps = &e.order.protocol
	b := backward{e: e, costs: costs, times: times{start: make([]int64, len(e.s.ops)), end: make([]int64, len(e.s.ops))}}
	if e.s.blocks != nil {
		b.block = make([]int64, len(e.s.blocks.before))
	}
	slack := &Slack{make([]unit.Duration, len(e.s.ops)), make([]unit.Duration, len(e.s.ops))}
	for i := len(e.order.points) - 1; i >= 0; i-- {
		p := e.order.points[i]
		op := p.op()
		if p.isEnd() || e.order.protocol.impliesEnd(e.s, op) {
			b.passEnd(op)
			if e.s.ops[op].Kind == schedule.Recv {
				arrival := e.times.end[e.s.partner[op]] + costs.edge(carry, p).length()
				slack.Messages[op] = e.T - unit.Duration(arrival+b.end[op])
			}
		}
		if !p.isEnd() {
			b.passStart(op)
			slack.Ops[op] = e.T - unit.Duration(e.times.start[op]+b.start[op])
		}
	}
	return slack, nil
}

// backward holds the longest ways from points to any end.
type backward struct {
	times // here: from the point on
	e     *Evaluation
	costs *coster
}

// passEnd hands the way from an end on to all points that lead to it.
func (b *backward) passEnd(op uint32) {
	if s := b.e.s; s.blocks != nil && s.endsBlock(op) {
		b.end[op] = max(b.end[op], b.block[s.blocks.of[op]])
	}
	b.pass(endOf(op), b.end[op])
}

// passStart hands the way from a start on to all points that lead to it.
func (b *backward) passStart(op uint32) {
	b.pass(startOf(op), b.start[op])
	if block, ok := b.e.blockBefore(startOf(op)); ok {
		b.block[block] = max(b.block[block], b.start[op])
	}
}

func (b *backward) pass(head point, length int64) {
	b.e.into(b.costs, head, func(tail point, w way) {
		way := &b.start[tail.op()]
		if tail.isEnd() {
			way = &b.end[tail.op()]
		}
		spent := int64(0)
		if w != waitFor {
			spent = b.costs.edge(w, head).length()
		}
		*way = max(*way, length+spent)
	})
}
