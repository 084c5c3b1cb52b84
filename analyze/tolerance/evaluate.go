package tolerance

import (
	"fmt"
	"math"

	"slackline/model/schedule"
	"slackline/model/unit"
)

const maxTime = int64(math.MaxInt64)

// Evaluation is a schedule on a network at the given parameters: when every operation starts and
// ends. Its methods may be called from several goroutines at once.
type Evaluation struct {
	T      unit.Duration // the largest end of all operations
	Lambda Lambda

	s     *Schedule
	n     Network
	order *order
	times times
	paths *paths // the critical ones
}

// times are the starts and ends of operations, and of blocks.
type times struct {
	start, end []int64
	block      []int64 // end of the block; of schedules with blocks
}

// Evaluate computes when every operation starts and ends, by these rules. With b = max(size-1, 0), s
// the start and e the end of an operation, and L, o(size), G(size), g, S of the class of the pair:
//
//	calculation      e = s + cost
//	eager send       e = s + o
//	its receive      e = max(s, e(send) + L + bG) + o
//	rendezvous       m = max(s(send) + o + L, s(receive)), for sizes larger than S
//	  send           e = m + L + 2o + bG
//	  receive        e = e(send) + L + o
//
// An operation starts when all that it requires has ended, all that it irequires has started, and all
// operations of the block before have ended; at 0 if there is nothing. A send starts at least g + bG
// after the one before it, in file order, of its rank and nic, if g of that one is larger than 0.
//
// It fails with a *schedule.CycleError if operations wait for each other.
func (s *Schedule) Evaluate(n Network) (*Evaluation, error) {
	c, err := newCoster(s, n)
	if err != nil {
		return nil, err
	}
	order, err := c.order()
	if err != nil {
		return nil, err
	}
	return s.evaluate(n, order)
}

// again evaluates the schedule on another network. It saves the search for an order if the protocol
// is the same: if the same messages are rendezvous, and the same sends wait for gaps.
func (e *Evaluation) again(n Network) (*Evaluation, error) {
	c, err := newCoster(e.s, n)
	if err != nil {
		return nil, err
	}
	if p := c.protocol(); !p.equal(&e.order.protocol) {
		return e.s.Evaluate(n)
	}
	return e.s.evaluate(n, e.order)
}

func (s *Schedule) evaluate(n Network, order *order) (*Evaluation, error) {
	e := &Evaluation{s: s, n: n, order: order}
	var err error
	if e.times, err = e.forward(nil); err != nil {
		return nil, err
	}
	e.T = unit.Duration(e.times.last())
	if e.paths, err = e.findPaths(); err != nil {
		return nil, err
	}
	e.Lambda = e.paths.lambda
	return e, nil
}

func (t *times) last() int64 {
	last := int64(0)
	for _, end := range t.end {
		last = max(last, end)
	}
	return last
}

// forward computes the times of all points in order. work is how long a calculation takes; nil: as
// long as the schedule says.
func (e *Evaluation) forward(work func(op uint32) int64) (times, error) {
	costs, err := newCoster(e.s, e.n)
	if err != nil {
		return times{}, err
	}
	f := newForward(costs, &e.order.protocol)
	f.work = work
	f.pass(e.order.points)
	return f.times, f.err()
}

// forward computes times.
type forward struct {
	times
	s        *Schedule
	costs    *coster
	protocol *protocol
	work     func(op uint32) int64 // how long a calculation takes; nil: as long as the schedule says
	overflow int64                 // negative if a sum did not fit
}

func newForward(c *coster, p *protocol) *forward {
	s := c.s
	f := &forward{s: s, costs: c, protocol: p}
	f.start, f.end = make([]int64, len(s.ops)), make([]int64, len(s.ops))
	if s.blocks != nil {
		f.block = make([]int64, len(s.blocks.before))
		for b := range f.block {
			f.block[b] = -1
		}
	}
	return f
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
			f.end[op] = f.add(f.start[op], f.costs.of(op).overhead)
		case o.Kind == schedule.Calc && f.work != nil:
			f.end[op] = f.add(f.start[op], f.work(op))
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
		m := f.costs.of(before)
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
		m := f.costs.of(op)
		match := max(f.add(f.add(f.start[op], m.overhead), m.latency), f.start[other])
		match = f.add(f.add(match, m.latency), m.bytes)
		f.end[op] = f.add(f.add(match, m.overhead), m.overhead)
		return
	}
	m := f.costs.of(other)
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
