package simulate

import (
	"fmt"
	"math"

	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// runStatic evaluates the static model, loggps, once. An operation waits for what its schedule says
// and for its message, and for nothing else: there is no contention for CPUs, NICs or links. Sends
// and receives are paired by schedule.Match, whatever the times. With b = max(size - 1, 0), s the
// start and e the end of an operation, and L, o(size), G(size), S of the class of the pair:
//
//	calculation      e = s + cost
//	eager send       e = s + o
//	its receive      e = max(s, e(send) + L + bG) + o
//	rendezvous       m = max(s(send) + o + L, s(receive)), for sizes larger than S
//	  send           e = m + L + 2o + bG
//	  receive        e = e(send) + L + o
//
// An operation starts when all that it requires has ended, all that it irequires has started, and
// all operations of the block before have ended; at 0 if there is nothing. If g of the class of a
// send is larger than 0, the next send in file order of the same rank and nic starts at least
// g + bG after it; with g = 0 there is no such rule. O plays no part.
func runStatic(g *schedule.Graph, layout *machine.Layout) (*Result, error) {
	if g.Shape().Collectives {
		return nil, fmt.Errorf("the model %s needs a schedule whose collectives have been expanded", LogGPS)
	}
	matching, err := schedule.Match(g)
	if err != nil {
		return nil, err
	}
	s := newStatic(g, matching, layout)
	s.begin()
	for now := []uint32(nil); len(s.ready) > 0 && s.err == nil; {
		now, s.ready = s.ready, now[:0]
		for _, i := range now {
			s.start(i)
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	if s.finished < len(s.ops) {
		return nil, s.findCycle()
	}
	return s.result(), nil
}

// static is the state of an evaluation. Operations and blocks are numbered over all ranks.
type static struct {
	g        *schedule.Graph
	ops      []schedule.Op
	state    []staticOp // by operation
	blocks   []staticBlock
	ready    []uint32 // operations to be started
	finished int

	costs      costs
	rendezvous int64
	messages   int
	err        error
}

// staticOp is what is known of an operation; all in one place, because the evaluation jumps from
// one rank to another and waits for memory most of its time.
type staticOp struct {
	time    int64  // its start, as far as it is known; after that its end
	waits   uint32 // how much has to happen before it starts, or one of the marks below
	block   uint32
	partner uint32
	next    uint32 // the send that waits for the gap of this one, or none
}

// Marks in staticOp.waits.
const (
	hasStarted = math.MaxUint32 - 1
	hasEnded   = math.MaxUint32
)

// staticBlock is what is known of a block.
type staticBlock struct {
	end    int64 // of the last operation that has ended
	rank   int32
	left   int32  // operations that have not ended
	from   uint32 // its first operation
	linked bool   // it has dependencies
}

// noOp is no operation.
const noOp = schedule.NoPartner

func newStatic(g *schedule.Graph, m *schedule.Matching, layout *machine.Layout) *static {
	s := &static{
		g:        g,
		ops:      g.Ops(),
		state:    make([]staticOp, g.NumOps()),
		blocks:   make([]staticBlock, g.NumBlocks()),
		costs:    costs{p: newProblem(schedule.Blocks(g), layout, nil)},
		messages: m.Messages,
	}
	for i, partner := range m.Partner {
		s.state[i].partner, s.state[i].next = partner, noOp
	}
	for rank := range g.Ranks() {
		for b := g.FirstBlock(rank); b < g.FirstBlock(rank+1); b++ {
			s.blocks[b].rank = int32(rank)
			s.addBlock(b)
		}
	}
	s.chainSends()
	return s
}

// addBlock counts what the operations of a block wait for inside it, and the block before as one.
func (s *static) addBlock(b int) {
	from, to := s.g.BlockOps(b)
	_, dependents := s.g.Links(b)
	for _, d := range dependents {
		s.state[from+d.Index()].waits++
	}
	block := &s.blocks[b]
	block.from, block.left, block.linked = uint32(from), int32(to-from), len(dependents) > 0
	if from == to {
		return
	}
	_, hasPrevious := s.previous(b)
	for i := from; i < to; i++ {
		s.state[i].block = uint32(b)
		if hasPrevious {
			s.state[i].waits++
		}
	}
}

// previous returns the block of the same rank before this one that has operations.
func (s *static) previous(b int) (int, bool) {
	for p := b - 1; p >= 0 && s.blocks[p].rank == s.blocks[b].rank; p-- {
		if from, to := s.g.BlockOps(p); from < to {
			return p, true
		}
	}
	return 0, false
}

// chainSends makes each send wait for the gap after the one before it.
func (s *static) chainSends() {
	layout := s.costs.p.layout
	gaps := false
	for c := range machine.Class(machine.NumClasses) {
		gaps = gaps || layout.Occurs(c) && layout.Machine.Classes[c].Gap > 0
	}
	if !gaps {
		return
	}
	var last [math.MaxUint8 + 1]uint32 // by nic
	for rank := range s.g.Ranks() {
		for i := range last {
			last[i] = noOp
		}
		for i := s.g.FirstOp(rank); i < s.g.FirstOp(rank+1); i++ {
			op := &s.ops[i]
			if op.Kind != schedule.Send {
				continue
			}
			if before := last[op.NIC]; before != noOp {
				s.state[before].next = uint32(i)
				s.state[i].waits++
			}
			last[op.NIC] = noOp
			if class := s.costs.class(int32(rank), op.Peer); layout.Machine.Classes[class].Gap > 0 {
				last[op.NIC] = uint32(i)
			}
		}
	}
}

// begin makes a list of the operations that wait for nothing.
func (s *static) begin() {
	for i := range s.ops {
		if s.state[i].waits == 0 {
			s.ready = append(s.ready, uint32(i))
		}
	}
}

// rank returns the rank of an operation.
func (s *static) rank(i uint32) int32 { return s.blocks[s.state[i].block].rank }

// add adds a span to a time, and notes it if the sum does not fit.
func (s *static) add(i uint32, at, span int64) int64 {
	if at > math.MaxInt64-span {
		if s.err == nil {
			rank, index := s.g.Find(int(i))
			s.err = fmt.Errorf("rank %d: operation %s: %w", rank, s.g.Name(rank, index), ErrOverflow)
		}
		return math.MaxInt64
	}
	return at + span
}

// release tells an operation that something it waits for has happened.
func (s *static) release(i uint32, at int64) {
	op := &s.state[i]
	op.time = max(op.time, at)
	if op.waits--; op.waits == 0 {
		s.ready = append(s.ready, i)
	}
}

// start starts an operation, and ends it and its partner if that can be said.
func (s *static) start(i uint32) {
	state := &s.state[i]
	state.waits = hasStarted
	s.releaseDependents(i, true)
	switch op := &s.ops[i]; op.Kind {
	case schedule.Calc:
		s.end(i, s.add(i, state.time, op.Size))
	case schedule.Send:
		cost := s.cost(i)
		if cost == nil {
			return
		}
		if state.next != noOp {
			s.release(state.next, s.add(i, s.add(i, state.time, cost.Gap), cost.Bytes))
		}
		if !cost.Rendezvous || op.IsBuffered() {
			s.end(i, s.add(i, state.time, cost.Overhead))
		}
		if s.state[state.partner].waits >= hasStarted {
			s.deliver(i, state.partner, cost)
		}
	case schedule.Recv:
		if s.state[state.partner].waits >= hasStarted {
			s.deliver(state.partner, i, s.cost(state.partner))
		}
	}
}

// cost returns what the message of a send costs, or nil if that does not fit.
func (s *static) cost(send uint32) *machine.Cost {
	op := &s.ops[send]
	from := s.rank(send)
	cost := s.costs.of(s.costs.class(from, op.Peer), op.Size)
	if cost.Overflow {
		s.err = fmt.Errorf("rank %d: a message of %d bytes to rank %d: %w", from, op.Size, op.Peer, ErrOverflow)
		return nil
	}
	return cost
}

// deliver ends the receive of a message, and a rendezvous send. Both have started.
func (s *static) deliver(send, receive uint32, cost *machine.Cost) {
	if cost == nil {
		return
	}
	from, to := s.state[send].time, s.state[receive].time
	o, latency, bytes := cost.Overhead, cost.Latency, cost.Bytes
	if !cost.Rendezvous || s.ops[send].IsBuffered() {
		arrival := s.add(send, s.add(send, from, latency), bytes)
		s.end(receive, s.add(receive, max(to, arrival), o))
		return
	}
	s.rendezvous++
	match := max(s.add(send, s.add(send, from, o), latency), to)
	leaves := s.add(send, s.add(send, s.add(send, s.add(send, match, latency), o), o), bytes)
	s.end(send, leaves)
	s.end(receive, s.add(receive, s.add(receive, leaves, latency), o))
}

// end ends an operation.
func (s *static) end(i uint32, at int64) {
	state := &s.state[i]
	state.time, state.waits = at, hasEnded
	s.finished++
	s.releaseDependents(i, false)
	b := int(state.block)
	block := &s.blocks[b]
	block.end = max(block.end, at)
	if block.left--; block.left > 0 {
		return
	}
	for b++; b < len(s.blocks) && s.blocks[b].rank == block.rank; b++ {
		if next := &s.blocks[b]; next.left > 0 {
			for j := range uint32(next.left) {
				s.release(next.from+j, block.end)
			}
			return
		}
	}
}

// releaseDependents releases the operations of the block that wait for the start of one of them, or
// for its end.
func (s *static) releaseDependents(i uint32, onStart bool) {
	b := s.state[i].block
	block := &s.blocks[b]
	if !block.linked {
		return
	}
	first, dependents := s.g.Links(int(b))
	k := i - block.from
	for _, d := range dependents[first[k]:first[k+1]] {
		if d.OnStart() == onStart {
			s.release(block.from+uint32(d.Index()), s.state[i].time)
		}
	}
}

// result sums up an evaluation in which all operations have ended.
func (s *static) result() *Result {
	r := &Result{
		Finish:   make([]unit.Duration, s.g.Ranks()),
		Messages: int64(s.messages),
		Ops:      int64(len(s.ops)),
		Engine:   "static",
		Threads:  1,
		Queues:   Queues{Rendezvous: s.rendezvous},
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		r.Finish[b.rank] = max(r.Finish[b.rank], unit.Duration(b.end))
		r.Makespan = max(r.Makespan, unit.Duration(b.end))
	}
	layout := s.costs.p.layout
	for c := range machine.Class(machine.NumClasses) {
		if layout.Occurs(c) && layout.Machine.Classes[c].CPUByte > 0 && s.messages > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("O has no influence on the result: the model %s does not know it", LogGPS))
			break
		}
	}
	return r
}
