package replay

import (
	"slices"

	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// blockOps is the number of operations from which on a block of a rank with copies is ended even if
// requests are open; see endOpen.
const blockOps = 1024

// blockWriter writes the operations of a rank into blocks. A block ends wherever no request is open:
// everything that follows requires everything before. Inside a block the rank goes on from its
// front: the next operation requires what is there.
type blockWriter struct {
	c        *converter
	received []timeline.Message
	sends    []uint32
	parts    []part

	out         rankProgram
	last        rankProgram // of the rank before, which needed about as much
	start       int         // of the block
	front       []front
	edges       []edge
	graphs      bool
	collectives bool

	// By number of what is received, sent or taken part in: the operation in the block that represents
	// it while it is open, closed otherwise.
	recvOp, sendOp, partOp []int32
	inner                  []inner // inner operations of the rank
	innerOp                []int32
	innerOpen              int      // how many of those are open
	open                   int      // how many are
	begun                  []record // what was begun in the block, or carried into it, open or not
	unwaited               []uint32 // sends that are open and that no call completes
	tryAt                  int      // number of operations at which endOpen is tried

	// Of the call under way.
	blocked, awaited []uint32
}

// front is something that the next operation requires.
type front struct {
	op      uint32
	onStart bool
}

// edge is a dependency inside a block.
type edge struct {
	on  uint32
	dep schedule.Dependent
}

// closed is the operation of a request that is not open.
const closed int32 = -1

// begin prepares for the operations of a location.
func (b *blockWriter) begin(c *converter, location int32) {
	b.c = c
	b.received, b.sends, b.parts = c.received(location), c.sentBy(location), c.partsOf(location)
	b.recvOp = allClosed(b.recvOp, len(b.received))
	b.sendOp = allClosed(b.sendOp, len(b.sends))
	b.partOp = allClosed(b.partOp, len(b.parts))
	b.inner = c.inner[location].list
	b.innerOp, b.innerOpen = allClosed(b.innerOp, len(b.inner)), 0
	if b.out.ops == nil {
		b.out = b.last.sameSize()
	}
	b.out = rankProgram{b.out.ops[:0], b.out.first[:0], b.out.dependents[:0], b.out.blocks[:0]}
	b.graphs, b.collectives = false, false
	b.open, b.unwaited = 0, b.unwaited[:0]
	b.nextBlock()
}

// empty prepares for the operations of a rank without threads.
func (b *blockWriter) empty(c *converter) {
	*b = blockWriter{c: c}
	b.nextBlock()
}

func allClosed(list []int32, n int) []int32 {
	list = slices.Grow(list[:0], n)[:n]
	for i := range list {
		list[i] = closed
	}
	return list
}

// nextBlock begins an empty block after the operations so far.
func (b *blockWriter) nextBlock() {
	b.start = len(b.out.ops)
	b.front, b.edges, b.begun = b.front[:0], b.edges[:0], b.begun[:0]
	b.tryAt = b.c.options.blockOps
}

// push appends an operation that requires the front, and returns its place in the block.
func (b *blockWriter) push(op schedule.Op) uint32 {
	i := len(b.out.ops) - b.start
	b.out.ops = append(b.out.ops, op)
	for _, f := range b.front {
		b.edges = append(b.edges, edge{f.op, schedule.NewDependent(i, f.onStart)})
	}
	return uint32(i)
}

// then appends an operation of which the next one requires the finish.
func (b *blockWriter) then(op schedule.Op) {
	b.front = append(b.front[:0], front{b.push(op), false})
}

// beside appends an operation of which the next one requires only the start.
func (b *blockWriter) beside(op schedule.Op) int32 {
	i := b.push(op)
	b.front = append(b.front[:0], front{i, true})
	b.open++
	return int32(i)
}

// compute appends a computation and returns its place among all operations of the rank. If no request
// is open it is a block of its own once the caller cuts.
func (b *blockWriter) compute(op schedule.Op) uint32 {
	if b.open == 0 {
		b.out.ops = append(b.out.ops, op)
	} else {
		b.then(op)
	}
	return uint32(len(b.out.ops) - 1)
}

// call appends the operations of an MPI call that has records, or that consists of inner operations and did what a note tells.
func (b *blockWriter) call(origin uint32, records []record, x *composed, note uint32) {
	b.blocked, b.awaited = b.blocked[:0], b.awaited[:0]
	waits := false
	for _, r := range records {
		switch r.kind {
		case postRecv:
			b.recvOp[r.at] = b.beside(b.recv(r.at, origin))
			b.begun = append(b.begun, r)
		case beginSend:
			b.sendOp[r.at] = b.beside(b.send(r.at, origin))
			b.begun = append(b.begun, r)
			if b.c.t.Messages[b.sends[r.at]].SendDone < 0 {
				b.unwaited = append(b.unwaited, r.at)
			}
		case issueCall:
			b.partOp[r.at] = b.beside(b.collective(r.at, origin))
			b.begun = append(b.begun, r)
		case blockingSend:
			b.blocked = append(b.blocked, b.push(b.send(r.at, origin)))
		case blockingRecv:
			b.blocked = append(b.blocked, b.push(b.recv(r.at, origin)))
		case blockingCall:
			b.goOnFrom(b.blocked)
			b.blocked = b.blocked[:0]
			b.then(b.collective(r.at, origin))
		case completeRecv:
			waits = true
			b.await(&b.recvOp[r.at])
		case completeSend:
			waits = true
			b.await(&b.sendOp[r.at])
		case completeCall:
			waits = true
			b.await(&b.partOp[r.at])
		}
	}
	b.goOnFrom(b.blocked)
	if x != nil {
		for _, i := range x.ended {
			if op := b.innerOp[i]; op != closed {
				b.awaited = append(b.awaited, uint32(op))
			}
		}
		b.closeInner(x.ended)
	}
	if len(b.awaited) > 0 {
		b.front = slices.DeleteFunc(b.front, func(f front) bool { return f.onStart && slices.Contains(b.awaited, f.op) })
		for _, op := range b.awaited {
			b.front = append(b.front, front{op, false})
		}
	}
	if x != nil {
		own := b.beginInner(x, origin)
		b.then(schedule.Op{Kind: schedule.Calc, Origin: origin, Tag: note})
		b.closeInner(own)
	} else if waits {
		b.then(schedule.Op{Kind: schedule.Calc, Origin: origin})
	}
	b.cut()
}

// goOnFrom makes the finish of some operations the front; none change nothing.
func (b *blockWriter) goOnFrom(ops []uint32) {
	if len(ops) == 0 {
		return
	}
	b.front = b.front[:0]
	for _, op := range ops {
		b.front = append(b.front, front{op, false})
	}
}

// await closes a request that the call under way waits for.
func (b *blockWriter) await(op *int32) {
	if *op != closed {
		b.awaited = append(b.awaited, uint32(*op))
		*op = closed
		b.open--
	}
}

func (b *blockWriter) recv(at, origin uint32) schedule.Op {
	m := &b.received[at]
	return b.message(schedule.Recv, m, m.From, origin)
}

func (b *blockWriter) send(at, origin uint32) schedule.Op {
	m := &b.c.t.Messages[b.sends[at]]
	op := b.message(schedule.Send, m, m.To, origin)
	if b.c.modes.of(b.c.t, m) == startBuffered {
		op.Context = schedule.Buffered
	}
	return op
}

func (b *blockWriter) message(kind schedule.Kind, m *timeline.Message, peer int32, origin uint32) schedule.Op {
	return schedule.Op{
		Kind: kind, Peer: int32(b.c.t.Locations[peer].Rank), Size: max(m.Size, 0),
		Tag: b.c.tags.of(m), Origin: origin,
	}
}

func (b *blockWriter) collective(at, origin uint32) schedule.Op {
	b.collectives = true
	return schedule.Op{Kind: schedule.Collective, Size: int64(b.parts[at].call), Origin: origin}
}

// reach records that the rank has come to an MPI call that it began at t in the run. What no call
// completes is complete when it was received in the run.
func (b *blockWriter) reach(t unit.Duration) {
	if len(b.unwaited) > 0 {
		b.unwaited = slices.DeleteFunc(b.unwaited, func(at uint32) bool {
			if b.sendOp[at] != closed && b.c.t.Messages[b.sends[at]].Received >= t {
				return false
			}
			if b.sendOp[at] != closed {
				b.sendOp[at] = closed
				b.open--
			}
			return true
		})
		b.cut()
	}
	if len(b.out.ops)-b.start >= b.tryAt {
		b.endOpen(t)
	}
}

// cut ends the block if no request is open.
func (b *blockWriter) cut() {
	if b.open == 0 && len(b.out.ops) > b.start {
		b.end()
		b.nextBlock()
	}
}

// end writes down where the block is, and its dependencies.
func (b *blockWriter) end() {
	p := &b.out
	p.blocks = append(p.blocks, place{uint32(b.start), uint32(len(p.first)), uint32(len(p.dependents))})
	ops := p.ops[b.start:]
	if len(ops) > 1 && !b.graphs {
		b.graphs = len(b.edges) > 0 ||
			slices.ContainsFunc(ops, func(op schedule.Op) bool { return op.Kind == schedule.Collective })
	}
	if len(b.edges) == 0 {
		return
	}
	n, at := len(ops), len(p.first)
	p.first = slices.Grow(p.first, n+1)[:at+n+1]
	first := p.first[at:]
	clear(first)
	for _, e := range b.edges {
		first[e.on]++
	}
	sum := uint32(0)
	for i := range first {
		sum += first[i]
		first[i] = sum
	}
	at = len(p.dependents)
	p.dependents = slices.Grow(p.dependents, len(b.edges))[:at+len(b.edges)]
	for i := len(b.edges) - 1; i >= 0; i-- {
		e := b.edges[i]
		first[e.on]--
		p.dependents[at+int(first[e.on])] = e.dep
	}
}

// finish ends the program.
func (b *blockWriter) finish() (rankProgram, error) {
	if len(b.out.ops) > b.start {
		b.end()
	}
	p := &b.out
	if err := checkSize("operations", len(p.ops)); err != nil {
		return *p, err
	}
	if err := checkSize("dependencies", len(p.dependents)+len(p.first)); err != nil {
		return *p, err
	}
	p.blocks = append(p.blocks, place{uint32(len(p.ops)), uint32(len(p.first)), uint32(len(p.dependents))})
	b.last, b.out = *p, rankProgram{}
	return b.last, nil
}

// sameSize returns an empty program with room for as much as in this one, and a little more.
func (r *rankProgram) sameSize() rankProgram {
	return rankProgram{
		ops:        make([]schedule.Op, 0, len(r.ops)+len(r.ops)/32),
		first:      make([]uint32, 0, len(r.first)+len(r.first)/32),
		dependents: make([]schedule.Dependent, 0, len(r.dependents)+len(r.dependents)/32),
		blocks:     make([]place, 0, len(r.blocks)+len(r.blocks)/32),
	}
}
