package simulate

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"slackline/model/machine"
	"slackline/model/schedule"
)

// This file is the oracle of the engines: the rules R1 to R13 of the loggops model, written down
// as literally as possible. It has one heap for all ranks, inserts a blocked event again and
// again, and searches its lists from the front. It is slow and meant to be read beside the rules.

var errReferenceOverflow = errors.New("time does not fit into 63 bits")

// referenceRun returns the finish time of each rank. nil noise: there is none.
func referenceRun(s schedule.Stream, layout *machine.Layout, noise refNoise) (finish []int64, err error) {
	r := &reference{
		layout:    layout,
		noise:     noise,
		positions: map[refCPU]int64{},
		nexto:     make([]map[uint8]int64, s.Ranks()),
		nextgs:    map[refNIC]int64{},
		nextgr:    map[refNIC]int64{},
		posted:    make([][]*refOp, s.Ranks()),
		arrived:   make([][]*refMessage, s.Ranks()),
	}
	for rank := range r.nexto {
		r.nexto[rank] = map[uint8]int64{}
	}
	if err := r.load(s); err != nil {
		return nil, err
	}
	for _, ops := range r.ops {
		for _, op := range ops {
			if op.missing == 0 {
				r.insert(&refEvent{kind: refLocal, rank: op.rank, op: op}) // at time 0, birth 0, gen 0
			}
		}
	}
	for r.queue.Len() > 0 && !r.overflow {
		e := heap.Pop(&r.queue).(*refEvent)
		r.carryOut(e)
	}
	if r.overflow {
		return nil, errReferenceOverflow
	}
	return r.end()
}

// refNoise returns when CPU work of a rank ends that starts at t and at a position in the noise (R8), and
// at which position. A negative time is beyond all times.
type refNoise func(rank int, t, position, work int64) (end, moved int64)

// refCPU is a CPU of a rank.
type refCPU struct {
	rank int
	cpu  uint8
}

// reference is the state of R2 and the queue of events.
type reference struct {
	layout *machine.Layout
	noise  refNoise
	ops    [][]*refOp // by rank, counted over all blocks
	queue  refQueue

	// positions in the noise, as work so far and the detours in it. They matter with the CPU clock.
	positions map[refCPU]int64

	nexto          []map[uint8]int64 // by rank, by CPU
	nextgs, nextgr map[refNIC]int64
	posted         [][]*refOp      // PRQ by rank
	arrived        [][]*refMessage // UMQ by rank

	becameReady []*refOp // during the event that is being carried out
	overflow    bool
}

// refNIC is a NIC number of a rank, or of a node if the NICs are shared (R13).
type refNIC struct {
	owner int
	nic   uint8
}

// refOp is an operation with its dependencies.
type refOp struct {
	schedule.Op
	rank, index int // index over all blocks of the rank

	missing               int   // dependencies that are not satisfied yet
	rho                   int64 // latest time of those that are
	waitStart, waitFinish []*refOp

	started, finished bool
	workEnd           int64 // of a send: nexto set by R5
}

// refMessage is a message on its way or in a UMQ.
type refMessage struct {
	send *refOp
	cost machine.Cost
	e    int64 // end of its CPU work at the receiver, once that is known
}

// The kinds of events, in the order of the key.
const (
	refLocal = iota
	refArrival
	refRelease
)

// refEvent is an event with the key (time, birth, gen, kind, rank, a, b).
type refEvent struct {
	time, birth int64
	gen         int
	kind        int
	rank        int // the rank that the event acts on
	op          *refOp
	message     *refMessage
	receiver    int // of a release
}

func (e *refEvent) key() [7]int64 {
	var a, b int
	switch e.kind {
	case refLocal:
		a, b = int(e.op.Kind), e.op.index // send 0, recv 1, calc 2
	case refArrival:
		a, b = e.message.send.rank, e.message.send.index
	case refRelease:
		a, b = e.receiver, e.op.index
	}
	return [7]int64{e.time, e.birth, int64(e.gen), int64(e.kind), int64(e.rank), int64(a), int64(b)}
}

type refQueue []*refEvent

func (q refQueue) Len() int { return len(q) }
func (q refQueue) Less(i, j int) bool {
	x, y := q[i].key(), q[j].key()
	return slices.Compare(x[:], y[:]) < 0
}
func (q refQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *refQueue) Push(x any)   { *q = append(*q, x.(*refEvent)) }
func (q *refQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// load takes all blocks into memory. Each operation of a block requires each one of the block
// before.
func (r *reference) load(s schedule.Stream) error {
	var b schedule.Block
	r.ops = make([][]*refOp, s.Ranks())
	for rank := range r.ops {
		var before []*refOp
		for at, ok := s.Next(rank, schedule.Cursor{}, &b); ok; at, ok = s.Next(rank, at, &b) {
			var block []*refOp
			for _, op := range b.Ops {
				if op.Kind > schedule.Calc {
					return fmt.Errorf("rank %d: %v in a stream", rank, op.Kind)
				}
				x := &refOp{Op: op, rank: rank, index: len(r.ops[rank])}
				for _, y := range before {
					y.waitFinish = append(y.waitFinish, x)
					x.missing++
				}
				block = append(block, x)
				r.ops[rank] = append(r.ops[rank], x)
			}
			for i := 0; i+1 < len(b.First); i++ {
				for _, d := range b.Dependents[b.First[i]:b.First[i+1]] {
					x := block[d.Index()]
					x.missing++
					if d.OnStart() {
						block[i].waitStart = append(block[i].waitStart, x)
					} else {
						block[i].waitFinish = append(block[i].waitFinish, x)
					}
				}
			}
			before = block
		}
	}
	return nil
}

func (r *reference) insert(e *refEvent) { heap.Push(&r.queue, e) }

// again inserts a blocked event again; birth and gen stay.
func (r *reference) again(e *refEvent, time int64) {
	e.time = time
	r.insert(e)
}

// child gives a new event the birth and gen of section 4.
func (parent *refEvent) child(e *refEvent) *refEvent {
	e.birth = parent.time
	if parent.birth == parent.time {
		e.gen = parent.gen + 1
	}
	return e
}

// carryOut is R10: change the resources, satisfy dependencies, insert what became ready.
func (r *reference) carryOut(e *refEvent) {
	switch {
	case e.kind == refArrival:
		r.arrive(e)
	case e.kind == refRelease:
		r.release(e)
	case e.op.Kind == schedule.Calc:
		r.calc(e)
	case e.op.Kind == schedule.Send:
		r.send(e)
	case e.op.Kind == schedule.Recv:
		r.recv(e)
	}
	for _, op := range r.becameReady { // R3
		r.insert(e.child(&refEvent{
			time: max(op.rho, r.nexto[op.rank][op.CPU]),
			kind: refLocal,
			rank: op.rank,
			op:   op,
		}))
	}
	r.becameReady = r.becameReady[:0]
}

// start and finish satisfy dependencies (R3).
func (r *reference) start(op *refOp, t int64) {
	op.started = true
	r.satisfy(op.waitStart, t)
}

func (r *reference) finish(op *refOp, t int64) {
	op.finished = true
	r.satisfy(op.waitFinish, t)
}

func (r *reference) satisfy(waiting []*refOp, t int64) {
	for _, op := range waiting {
		op.rho = max(op.rho, t)
		op.missing--
		if op.missing == 0 {
			r.becameReady = append(r.becameReady, op)
		}
	}
}

// calc is R4.
func (r *reference) calc(e *refEvent) {
	t, op := e.time, e.op
	nexto := r.nexto[e.rank]
	if nexto[op.CPU] > t {
		r.again(e, nexto[op.CPU])
		return
	}
	nexto[op.CPU] = r.work(e.rank, op.CPU, t, op.Size)
	r.start(op, t)
	r.finish(op, nexto[op.CPU])
}

// send is R5.
func (r *reference) send(e *refEvent) {
	t, op := e.time, e.op
	nexto, nic := r.nexto[e.rank], r.nic(e.rank, op.NIC)
	if free := max(nexto[op.CPU], r.nextgs[nic]); free > t {
		r.again(e, free)
		return
	}
	class := r.layout.Class(op.rank, int(op.Peer))
	m := &refMessage{send: op, cost: r.layout.Machine.Classes[class].Cost(op.Size)}
	r.overflow = r.overflow || m.cost.Overflow
	left, _ := r.fin(e.rank, op.CPU, t, m.cost.Overhead)
	nexto[op.CPU] = r.work(e.rank, op.CPU, t, r.sum(m.cost.Overhead, m.cost.CPUBytes))
	r.nextgs[nic] = r.sum(t, m.cost.Gap, m.cost.Bytes)
	r.insert(e.child(&refEvent{
		time:    r.sum(left, m.cost.Latency),
		kind:    refArrival,
		rank:    int(op.Peer),
		message: m,
	}))
	op.workEnd = nexto[op.CPU]
	r.start(op, t)
	if !m.cost.Rendezvous || op.Context >= 128 { // a buffered send never waits
		r.finish(op, op.workEnd)
	}
}

// arrive is R6.
func (r *reference) arrive(e *refEvent) {
	t, m := e.time, e.message
	cpu := m.send.CPU
	nexto, nic := r.nexto[e.rank], r.nic(e.rank, m.send.NIC)
	if free := max(nexto[cpu], r.nextgr[nic]); free > t {
		r.again(e, free)
		return
	}
	x := max(r.work(e.rank, cpu, t, m.cost.CPUBytes), r.sum(t, m.cost.Bytes))
	m.e = r.work(e.rank, cpu, x, m.cost.Overhead)
	nexto[cpu] = m.e
	r.nextgr[nic] = r.sum(t, m.cost.Gap, m.cost.Bytes)
	for i, op := range r.posted[e.rank] {
		if accepts(op, m) {
			r.posted[e.rank] = slices.Delete(r.posted[e.rank], i, i+1)
			r.finish(op, m.e)
			r.matched(e, m)
			return
		}
	}
	r.arrived[e.rank] = append(r.arrived[e.rank], m)
}

// recv is R7.
func (r *reference) recv(e *refEvent) {
	t, op := e.time, e.op
	r.start(op, t)
	for i, m := range r.arrived[e.rank] {
		if accepts(op, m) {
			r.arrived[e.rank] = slices.Delete(r.arrived[e.rank], i, i+1)
			r.finish(op, max(t, m.e))
			r.matched(e, m)
			return
		}
	}
	r.posted[e.rank] = append(r.posted[e.rank], op)
}

// accepts is the last sentence of R7, extended by contexts, which GOAL does not have.
func accepts(recv *refOp, m *refMessage) bool {
	return (recv.Peer == schedule.AnySource || int(recv.Peer) == m.send.rank) &&
		(recv.Tag == schedule.AnyTag || recv.Tag == m.send.Tag) &&
		recv.Context == m.send.Context%128 // the highest bit says that the send is buffered
}

// matched is the first half of R9: the release has the time, birth and gen of the event e that did
// the match.
func (r *reference) matched(e *refEvent, m *refMessage) {
	if m.cost.Rendezvous && m.send.Context < 128 {
		r.insert(&refEvent{
			time: e.time, birth: e.birth, gen: e.gen,
			kind:     refRelease,
			rank:     m.send.rank,
			op:       m.send,
			receiver: e.rank,
		})
	}
}

// release is the second half of R9.
func (r *reference) release(e *refEvent) {
	t, op := e.time, e.op
	nexto, nic := r.nexto[e.rank], r.nic(e.rank, op.NIC)
	nexto[op.CPU] = max(nexto[op.CPU], t)
	r.nextgs[nic] = max(r.nextgs[nic], t)
	r.finish(op, max(op.workEnd, t))
}

// nic returns who owns a NIC number (R13).
func (r *reference) nic(rank int, nic uint8) refNIC {
	if r.layout.Machine.SharedNIC {
		return refNIC{r.layout.Node(rank), nic}
	}
	return refNIC{rank, nic}
}

// fin is R8: when work on a CPU ends, and at which position in the noise.
func (r *reference) fin(rank int, cpu uint8, t, work int64) (end, position int64) {
	if r.noise == nil {
		return r.sum(t, work), 0
	}
	if r.overflow {
		return math.MaxInt64, 0
	}
	x, moved := r.noise(rank, t, r.positions[refCPU{rank, cpu}], work)
	if x < t {
		r.overflow = true
		return math.MaxInt64, 0
	}
	return x, moved
}

// work is fin for work that is done: the CPU is then at the end of it.
func (r *reference) work(rank int, cpu uint8, t, work int64) int64 {
	end, moved := r.fin(rank, cpu, t, work)
	r.positions[refCPU{rank, cpu}] = moved
	return end
}

// sum adds times and notes if one of them does not fit.
func (r *reference) sum(times ...int64) int64 {
	var total uint64
	for _, t := range times {
		var carry uint64
		total, carry = bits.Add64(total, uint64(t), 0)
		if carry != 0 || total > math.MaxInt64 {
			r.overflow = true
			return math.MaxInt64
		}
	}
	return int64(total)
}

// end is R12.
func (r *reference) end() (finish []int64, err error) {
	for rank := range r.ops {
		if n := len(r.posted[rank]); n > 0 {
			return nil, fmt.Errorf("rank %d: %d receives never matched, the first is %d", rank, n, r.posted[rank][0].index)
		}
		if n := len(r.arrived[rank]); n > 0 {
			send := r.arrived[rank][0].send
			return nil, fmt.Errorf("rank %d: %d messages never received, the first is of rank %d, operation %d", rank, n, send.rank, send.index)
		}
		for _, op := range r.ops[rank] {
			if !op.started || !op.finished {
				return nil, fmt.Errorf("rank %d: operation %d started: %t, finished: %t", rank, op.index, op.started, op.finished)
			}
		}
	}
	for _, nexto := range r.nexto {
		latest := int64(0)
		for _, t := range nexto {
			latest = max(latest, t)
		}
		finish = append(finish, latest)
	}
	return finish, nil
}
