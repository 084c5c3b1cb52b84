package tolerance

import (
	"errors"
	"fmt"
	"slices"

	"slackline/model/schedule"
)

// pass goes over the operations of a schedule once, in an order in which each comes after everything that it waits for. Of the operations
// it keeps only those of the block that each rank is in; of the points of the graph only those that others still wait for. All ranks
// take turns, a block each, so that messages do not pile up.
//
// On the way it computes when everything happens, the critical paths to it, and, if there is an axis, the graph of T over a variable.
type pass struct {
	s     *Schedule
	costs *coster
	axis  *axis                       // nil: no graph is wanted
	work  func(op *schedule.Op) int64 // how long a calculation takes; nil: as long as the schedule says
	paths *decisions                  // what decided every point; nil: it is not wanted
	gaps  bool                        // sends may wait for gaps
	ranks []rankState
	slots slots
	mail  channels
	block schedule.Block
	turn  []int32 // ranks whose block has ended, in order
	ready []ready // points that are complete, and messages of which both ends have started
	ended int     // ranks

	repeat  repeater
	record  *recorder // nil unless a repetition of the program is written down
	present moment    // the point that is worked on
	lines   []line    // into it
	raw     []line    // scratch
	start   []line    // into the start of a block
	tapeMaker

	table      [64]edgesEntry // of the edges of messages
	one        messageEdges   // of a message with a latency of its own
	calc       edge
	roots      []uint32 // operations of a block that wait for nothing in it
	last       moment   // the canonical one of the ends at T, T being the largest so far
	finish     []int64
	ops        int
	rendezvous int
	// Negative if a time, or a constant of a line, did not fit.
	overflow, lineOverflow int64
}

// rankState is where a rank is.
type rankState struct {
	cursor schedule.Cursor
	first  uint32 // number of operations before the block
	open   uint32 // operations of the block that have not ended
	end    uint32 // slot of the end of the block
	ops    []schedule.Op
	state  []opState
	// Dependents of the operations of the block, as schedule.Block has them.
	begins     []uint32
	dependents []schedule.Dependent
	owned      bool // the lists above are copies, and can be used again
	nics       []nicState
	nextSend   []uint32 // by operation, if there are gaps: the send of its block that waits for its gap; 0: none
}

// opState is an operation of a block that is under way.
type opState struct {
	slot    uint32 // of its start
	waiting uint32 // how much it waits for
	message uint32 // its envelope
}

// nicState is the last send of a rank on a NIC.
type nicState struct {
	nic    uint8
	hasGap bool
	op     uint32 // in the block, if it is in the present one
	inside bool
	slot   uint32 // the start of it, if that was before the present block
	number uint64
	edge   edge
}

// ready is a point that is complete: the start of an operation; or, with a rank of -1, a message.
type ready struct {
	rank int32
	at   uint32
}

// errStuck states that operations wait for each other, or for messages that never come.
var errStuck = errors.New("operations are left over")

// newPass prepares a pass.
func newPass(s *Schedule, n Network) (*pass, error) {
	costs, err := newCoster(s, n)
	if err != nil {
		return nil, err
	}
	p := &pass{s: s, costs: costs, gaps: costs.hasGaps(), last: never}
	p.mail.ranks = s.ranks
	p.ranks, p.finish = make([]rankState, s.ranks), make([]int64, s.ranks)
	return p, nil
}

// startAgain forgets all that was done, and what repeats itself.
func (p *pass) startAgain() {
	old := *p
	*p = pass{s: old.s, costs: old.costs, axis: old.axis, work: old.work, paths: old.paths, gaps: old.gaps, last: never}
	p.mail.ranks = p.s.ranks
	p.ranks, p.finish = make([]rankState, p.s.ranks), make([]int64, p.s.ranks)
	p.repeat.isOff = true
	if p.paths != nil {
		clear(p.paths.ranks)
	}
	if p.axis != nil {
		p.tape = newTape()
	}
}

// run goes over all operations.
func (p *pass) run() error {
	err := p.visitAll()
	if err == nil && p.repeat.laps > 0 && p.repeat.latest >= p.last.at {
		// What ends last is among the repetitions that were not passed operation by operation.
		p.startAgain()
		err = p.visitAll()
	}
	if failed := p.s.failure(); failed != nil {
		return failed
	}
	switch {
	case err == nil && p.costs.err != nil:
		return p.costs.err
	case err == nil && p.overflow < 0:
		return p.explain(ErrOverflow)
	case err == errStuck:
		return p.explain(err)
	}
	return err
}

// interrupted returns the error that ends a pass, if there is one.
func (s *Schedule) interrupted() error {
	if s.Interrupt == nil {
		return nil
	}
	return s.Interrupt()
}

func (p *pass) visitAll() error {
	for rank := range p.ranks {
		p.turn = append(p.turn, int32(rank))
	}
	var spare []int32
	for len(p.turn) > 0 {
		p.repeat.round(p)
		if err := p.s.interrupted(); err != nil {
			return err
		}
		ranks := p.turn
		p.turn, spare = spare[:0], ranks
		for _, rank := range ranks {
			if err := p.load(int(rank)); err != nil {
				return err
			}
			for len(p.ready) > 0 {
				next := p.ready[len(p.ready)-1]
				p.ready = p.ready[:len(p.ready)-1]
				if next.rank < 0 {
					p.deliver(next.at)
					continue
				}
				state := &p.ranks[next.rank].state[next.at]
				p.resolve(state.slot)
				state.slot = 0
				p.begin(int(next.rank), next.at)
			}
		}
		if p.overflow < 0 || p.costs.err != nil {
			return nil
		}
	}
	if p.ended < len(p.ranks) || p.mail.waiting > 0 {
		return errStuck
	}
	return nil
}

// explain finds out what an error is about, with all operations in memory.
func (p *pass) explain(err error) error {
	w, failed := p.s.whole()
	if failed != nil {
		return failed
	}
	if _, failed = w.evaluate(p.costs); failed != nil {
		return failed
	}
	return err
}

// load reads the next block of a rank, and begins the operations that wait for nothing in it.
func (p *pass) load(rank int) error {
	r := &p.ranks[rank]
	r.first += uint32(len(r.ops))
	cursor, ok := p.s.stream.Next(rank, r.cursor, &p.block)
	p.resolve(r.end)
	r.end = 0
	if !ok {
		r.ops = nil
		p.endRank(rank)
		return nil
	}
	n := len(p.block.Ops)
	if n > maxRankOps-int(r.first) {
		return fmt.Errorf("rank %d has too many operations; the limit is %d", rank, maxRankOps)
	}
	if p.paths != nil {
		p.paths.ranks[rank].mark(r.first, r.cursor)
		p.paths.ranks[rank].extend(n)
	}
	p.repeat.load(p, rank)
	p.ops += n
	r.cursor, r.open = cursor, uint32(n)
	r.take(&p.block)
	r.end = p.slots.new()
	for _, d := range r.dependents {
		r.state[d.Index()].waiting++
	}
	p.roots = p.roots[:0]
	for i := range r.state {
		if r.state[i].waiting == 0 {
			p.roots = append(p.roots, uint32(i))
		}
	}
	if err := p.match(rank); err != nil {
		return err
	}
	p.settle(len(p.roots))
	if p.gaps {
		p.chainSends(rank)
	}
	if len(p.roots) == 1 {
		p.begin(rank, p.roots[0])
		return nil
	}
	start := p.present
	p.start = append(p.start[:0], p.lines...)
	if p.record != nil {
		p.record.start = *p.record.now()
	}
	for _, i := range p.roots {
		p.present, p.lines = start, append(p.lines[:0], p.start...)
		if p.record != nil {
			p.record.present = append(p.record.present[:0], p.record.start)
		}
		p.begin(rank, i)
	}
	return nil
}

// take takes the operations of a block.
func (r *rankState) take(b *schedule.Block) {
	r.takeOps(b)
	r.state = slices.Grow(r.state[:0], len(r.ops))[:len(r.ops)]
	clear(r.state)
}

func (r *rankState) takeOps(b *schedule.Block) {
	if b.Borrowed() {
		r.ops, r.begins, r.dependents, r.owned = b.Ops, b.First, b.Dependents, false
	} else {
		if !r.owned {
			r.ops, r.begins, r.dependents, r.owned = nil, nil, nil, true
		}
		r.ops, r.begins, r.dependents = append(r.ops[:0], b.Ops...), append(r.begins[:0], b.First...), append(r.dependents[:0], b.Dependents...)
	}
}

// after returns what waits for an operation inside its block, and how much of it for its end.
func (r *rankState) after(i uint32) (list []schedule.Dependent, ends int) {
	if len(r.dependents) == 0 {
		return nil, 0
	}
	list = r.dependents[r.begins[i]:r.begins[i+1]]
	for _, d := range list {
		if !d.OnStart() {
			ends++
		}
	}
	return list, ends
}

// match finds the envelopes of the messages of a block.
func (p *pass) match(rank int) error {
	r := &p.ranks[rank]
	for i := range r.ops {
		op := &r.ops[i]
		if op.Kind != schedule.Send && op.Kind != schedule.Recv {
			continue
		}
		if op.Peer >= int32(p.s.ranks) || op.Peer < 0 && p.s.matched == nil {
			return errStuck
		}
		isSend := op.Kind == schedule.Send
		n := p.mail.take(p.channelOf(rank, i, op), isSend)
		r.state[i].message = n
		m := &p.mail.envelopes[n]
		if isSend {
			m.hasSend, m.from, m.sendOp, m.sendIndex = true, int32(rank), uint32(i), r.first+uint32(i)
			m.size, m.buffered = op.Size, op.IsBuffered()
		} else {
			m.hasRecv, m.to, m.recvOp, m.recvIndex = true, int32(rank), uint32(i), r.first+uint32(i)
		}
	}
	return nil
}

// channelOf returns the channel of a message. With wildcards every message has its own.
func (p *pass) channelOf(rank, i int, op *schedule.Op) channel {
	switch isSend := op.Kind == schedule.Send; {
	case p.s.matched != nil:
		number := uint32(p.s.graph.FirstOp(rank)+i) + p.ranks[rank].first
		if !isSend {
			number = p.s.matched.Partner[number]
		}
		return newChannel(int32(number), 0, 0, 0)
	case isSend:
		return newChannel(int32(rank), op.Peer, op.Tag, op.World())
	}
	return newChannel(op.Peer, int32(rank), op.Tag, op.Context)
}

// endRank ends a rank; the end of its last block is the present point.
func (p *pass) endRank(rank int) {
	p.finish[rank] = p.present.at
	p.sinks = append(p.sinks, p.lines...)
	p.ended++
}
