package tolerance

import (
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

// evaluate computes when every operation starts and ends, by the rules of Schedule.Evaluate. It fails with a *schedule.CycleError if
// operations wait for each other.
func (w *whole) evaluate(c *coster) (*timed, error) {
	order, err := w.order(c)
	if err != nil {
		return nil, err
	}
	f := &forward{s: w, costs: c, protocol: &order.protocol}
	f.start, f.end = make([]int64, len(w.ops)), make([]int64, len(w.ops))
	if w.blocks != nil {
		f.block = make([]int64, len(w.blocks.before))
		for b := range f.block {
			f.block[b] = -1
		}
	}
	f.pass(order.points)
	return &timed{w, c, order, f.times}, f.err()
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

// forward computes times.
type forward struct {
	times
	s        *whole
	costs    *coster
	protocol *protocol
	overflow int64 // negative if a sum did not fit
}

// pass computes the times of points, in order, after those of all that they wait for.
func (f *forward) pass(points []point) {
	for _, p := range points {
		op := p.op()
		if p.isEnd() {
			f.finish(op)
			continue
		}
		f.begin(op)
		switch o := &f.s.ops[op]; {
		case o.Kind == schedule.Send && !f.protocol.isRendezvous(op):
			f.end[op] = f.add(f.start[op], f.s.message(f.costs, op).overhead)
		case o.Kind == schedule.Calc:
			f.end[op] = f.add(f.start[op], o.Size)
		}
		if f.overflow < 0 {
			return
		}
	}
}

// err returns why the times are not valid.
func (f *forward) err() error {
	switch {
	case f.costs.err != nil:
		return f.costs.err
	case f.overflow < 0:
		return f.overflowError()
	}
	return nil
}

// add adds two times, both at least 0.
func (f *forward) add(a, b int64) int64 {
	sum := a + b
	f.overflow |= sum
	return sum
}

// begin computes the start of an operation.
func (f *forward) begin(op uint32) {
	s := f.s
	t := int64(0)
	preds := s.preds[s.predFirst[op]:s.predFirst[op+1]]
	for _, p := range preds {
		if p.isEnd() {
			t = max(t, f.end[p.op()])
		} else {
			t = max(t, f.start[p.op()])
		}
	}
	if before, ok := f.protocol.gap(op); ok {
		m := f.s.message(f.costs, before)
		t = max(t, f.add(f.add(f.start[before], m.gap), m.bytes))
	}
	if len(preds) == 0 && s.blocks != nil {
		if block, ok := s.previous(op); ok {
			t = max(t, f.blockEnd(block))
		}
	}
	f.start[op] = t
}

// blockEnd computes when the last operation of a block ends.
func (f *forward) blockEnd(block uint32) int64 {
	if f.block[block] < 0 {
		from, to := f.s.graph.BlockOps(int(block))
		last := int64(0)
		for _, end := range f.end[from:to] {
			last = max(last, end)
		}
		f.block[block] = last
	}
	return f.block[block]
}

// finish computes the end of a receive, or of a rendezvous send.
func (f *forward) finish(op uint32) {
	other := f.s.partner[op]
	if f.s.ops[op].Kind == schedule.Send {
		m := f.s.message(f.costs, op)
		match := max(f.add(f.add(f.start[op], m.overhead), m.latency), f.start[other])
		match = f.add(f.add(match, m.latency), m.bytes)
		f.end[op] = f.add(f.add(match, m.overhead), m.overhead)
		return
	}
	m := f.s.message(f.costs, other)
	arrival := f.add(f.end[other], m.latency)
	if !m.rendezvous {
		arrival = f.add(arrival, m.bytes)
	}
	f.end[op] = f.add(max(f.start[op], arrival), m.overhead)
}

// overflowError names the first operation whose times do not fit, in the order of the schedule.
func (f *forward) overflowError() error {
	for op := range f.end {
		if f.start[op] < 0 || f.end[op] < 0 {
			rank, index := f.s.graph.Find(op)
			return fmt.Errorf("rank %d: operation %s: %w", rank, f.s.graph.Name(rank, index), ErrOverflow)
		}
	}
	return ErrOverflow
}
