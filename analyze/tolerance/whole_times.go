package tolerance

import (
	"cmp"
	"fmt"

	"slackline/model/schedule"
)

// timed is a whole schedule on a network at the given parameters: when every operation starts and ends.
type timed struct {
	*whole
	costs *coster
	order *order
	times times
}

// times are the starts and ends of operations, and of blocks.
type times struct {
	start, end []int64
	block      []int64 // end of the block; of schedules with blocks
}

func (w *whole) newTimes() times {
	t := times{start: make([]int64, len(w.ops)), end: make([]int64, len(w.ops))}
	if w.blocks != nil {
		t.block = make([]int64, len(w.blocks.before))
	}
	return t
}

// of returns the time of a point.
func (t *times) of(p point) *int64 {
	if p.isEnd() {
		return &t.end[p.op()]
	}
	return &t.start[p.op()]
}

// evaluate computes when every operation starts and ends, by the rules of Schedule.Evaluate. It fails with a *schedule.CycleError if
// operations wait for each other.
func (w *whole) evaluate(c *coster) (*timed, error) {
	order, err := w.order(c)
	if err != nil {
		return nil, err
	}
	t := &timed{w, c, order, w.newTimes()}
	for _, p := range order.points {
		fits := t.happen(p)
		if !p.isEnd() && order.protocol.impliesEnd(w, p.op()) {
			fits = t.happen(endOf(p.op())) && fits
		}
		if !fits {
			rank, index := w.graph.Find(int(p.op()))
			return nil, cmp.Or(c.err, fmt.Errorf("rank %d: operation %s: %w", rank, w.graph.Name(rank, index), ErrOverflow))
		}
	}
	return t, c.err
}

// happen computes the time of a point from those of all that it waits for, and reports whether it fits.
func (t *timed) happen(head point) (fits bool) {
	at, sign := int64(0), int64(0)
	t.into(head, func(tail point, w way) {
		length := t.edge(w, head).length()
		end := *t.times.of(tail) + length
		sign |= length | end
		at = max(at, end)
	})
	if block, ok := t.blockBefore(head); ok {
		at = max(at, t.times.block[block])
	}
	if sign < 0 {
		at = -1
	}
	*t.times.of(head) = at
	if head.isEnd() && t.blocks != nil {
		end := &t.times.block[t.blocks.of[head.op()]]
		*end = max(*end, at)
	}
	return at >= 0
}

// blockBefore returns the block whose end a start waits for directly.
func (w *whole) blockBefore(head point) (block uint32, ok bool) {
	op := head.op()
	if head.isEnd() || w.blocks == nil || w.predFirst[op] != w.predFirst[op+1] {
		return 0, false
	}
	return w.previous(op)
}

// into calls visit for every edge that ends in a point, but for those from the block before.
func (t *timed) into(head point, visit func(tail point, w way)) {
	s, op := t.whole, head.op()
	if !head.isEnd() {
		for _, p := range s.preds[s.predFirst[op]:s.predFirst[op+1]] {
			visit(p, waitFor)
		}
		if before, ok := t.order.protocol.gap(op); ok {
			visit(startOf(before), gap)
		}
		return
	}
	other := s.partner[op]
	switch kind := s.ops[op].Kind; {
	case kind == schedule.Recv:
		visit(startOf(op), own)
		visit(endOf(other), carry)
	case kind == schedule.Send && t.order.protocol.isRendezvous(op):
		visit(startOf(op), request)
		visit(startOf(other), granting)
	default:
		visit(startOf(op), own)
	}
}

// edge returns what is spent on an edge that ends in a point. The message in it is valid until the next call.
func (t *timed) edge(w way, head point) cost {
	op := head.op()
	switch o := &t.ops[op]; {
	case w == waitFor:
		return cost{}
	case w == gap:
		op, _ = t.order.protocol.gap(op)
	case o.Kind == schedule.Calc:
		return cost{calc: o.Size}
	case o.Kind == schedule.Recv:
		op = t.partner[op]
	}
	return w.of(t.message(t.costs, op))
}
