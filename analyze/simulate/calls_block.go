package simulate

import (
	"math"
	"slices"
	"strings"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// blockCalls is memory for turning a block into calls.
type blockCalls struct {
	items []callItem
	order []int32
	first []int32 // waits[first[i]:first[i+1]] are what item i requires the finish of
	waits []int32
	work  []int32 // computations under way, where items overlap
}

// callItem is an operation of the program: of a collective, all its parts.
type callItem struct {
	opTimes
	op      schedule.Op
	call    schedule.Call // of a collective
	started bool
}

// request is something that was begun and has not been completed.
type request struct {
	callItem
	id uint64
	of int32 // item of the block under way; earlier: it is one of a block before
}

// earlier is the item of a request of an earlier block: whatever comes next requires it.
const earlier int32 = -1

// endBlock writes down the calls of a block that a rank has done.
func (c *callRecorder) endBlock(rank int32, r *rankState) {
	q, e := &c.ranks[rank], &c.emit
	first, dependents := r.first, r.dependents
	if len(q.parts) > 0 {
		c.program.Block(int(rank), int(q.step), &c.block)
		e.gather(q, &c.block)
		first, dependents = c.block.First, c.block.Dependents
	} else {
		e.take(q, r.ops)
	}
	e.reverse(len(e.items), first, dependents)
	for k := 0; k < len(e.order); k++ {
		c.resume(q, e.items[e.order[k]].start)
		k += c.endItem(rank, k)
	}
	c.resume(q, math.MaxInt64)
	for i := range q.begun {
		q.begun[i].of = earlier
	}
}

// endItem writes down the item in place k of the order, and the wait before it. It returns how many
// further items belong to the same call.
func (c *callRecorder) endItem(rank int32, k int) (further int) {
	q, e := &c.ranks[rank], &c.emit
	i := e.order[k]
	it := &e.items[i]
	origin := c.regions.of(it.op.Origin)
	if it.op.IsInner() {
		return 0
	}
	required := func(r *request) bool { return r.of == earlier || slices.Contains(e.requires(i), r.of) }
	if it.op.Kind == schedule.Calc && it.op.Size == 0 && origin.waits {
		c.wait(rank, &it.op, origin.call, it.finish, required)
		return 0
	}
	c.waitBefore(rank, required)
	if it.op.Kind == schedule.Calc && it.op.Tag > 0 && c.tale != nil {
		c.wait(rank, &it.op, origin.call, it.finish, func(*request) bool { return false })
		return 0
	}
	switch it.op.Kind {
	case schedule.Calc:
		if c.overlap && origin.name == "" {
			e.work = append(e.work, i) // it goes on until the next item starts, and later
			break
		}
		c.calc(q, it, origin)
	case schedule.Collective:
		if c.blocking(k, origin) {
			c.collective(rank, &it.op, &it.call, max(q.now, it.finish))
		} else {
			c.issue(rank, i)
		}
	default:
		further = e.together(k, origin)
		if c.blocking(k, origin) {
			c.message(rank, e.order[k:k+1+further])
		} else {
			c.begin(rank, e.order[k:k+1+further])
		}
	}
	return further
}

// resume writes down the computations under way, up to the given time. Only where items of a rank overlap
// they go on beside others; each of them then has the time that those before it leave.
func (c *callRecorder) resume(q *callRank, until int64) {
	e := &c.emit
	e.work = slices.DeleteFunc(e.work, func(i int32) bool {
		it := &e.items[i]
		c.work(q, it.op.Origin, min(it.finish, until))
		return it.finish <= max(q.now, until)
	})
}

// calc writes down a computation, or a call that is opaque.
func (c *callRecorder) calc(q *callRank, it *callItem, origin *originRegions) {
	switch {
	case origin.name == "":
		c.work(q, it.op.Origin, it.finish)
	case isFinalize(origin.name) || it.op.Size == 0 && isSessionEnd(origin.name):
		c.work(q, it.op.Origin, it.finish) // the CPU may have been busy
		q.final = it.op.Origin
		c.last = max(c.last, q.now)
	default:
		c.call(q, it.op.Origin, origin.call, max(q.now, it.finish), nil, nil)
	}
}

// blocking reports whether the item in place k of the order is a call that ends with it: by its name, or
// because the next one requires it.
func (c *callRecorder) blocking(k int, origin *originRegions) bool {
	e := &c.emit
	if origin.name != "" {
		return !origin.begins
	}
	return k+1 >= len(e.order) || slices.Contains(e.requires(e.order[k+1]), e.order[k])
}

// together counts the items after place k that are part of the same call: those of MPI_Sendrecv and
// MPI_Startall with the same origin.
func (e *blockCalls) together(k int, origin *originRegions) int {
	if !origin.joint {
		return 0
	}
	n := 0
	for k+n+1 < len(e.order) {
		next := &e.items[e.order[k+n+1]]
		if next.op.Origin != e.items[e.order[k]].op.Origin || next.op.Kind > schedule.Recv {
			break
		}
		n++
	}
	return n
}

// message writes down a blocking call that sends or receives.
func (c *callRecorder) message(rank int32, items []int32) {
	q, e := &c.ranks[rank], &c.emit
	end := q.now
	for _, i := range items {
		end = max(end, e.items[i].finish)
	}
	first := &e.items[items[0]]
	c.call(q, first.op.Origin, c.regions.callOf(&first.op, false), end, func(until int64) {
		for _, i := range items {
			if it := &e.items[i]; it.op.Kind == schedule.Send {
				q.Send(q.between(it.start, until), it.op.Peer, c.comm(it.op.World()), int32(it.op.Tag), it.op.Size)
			}
		}
	}, func() {
		for _, i := range items {
			if it := &e.items[i]; it.op.Kind == schedule.Recv {
				q.Recv(unit.Duration(end), it.source, c.comm(it.op.World()), int32(it.tag), it.size)
			}
		}
	})
}

// between is a time in the call under way, up to the given one.
func (q *callRank) between(t, until int64) unit.Duration {
	return unit.Duration(min(max(t, q.now), until))
}

// begin writes down a call that begins to send or receive.
func (c *callRecorder) begin(rank int32, items []int32) {
	q, e := &c.ranks[rank], &c.emit
	end := q.now
	for _, i := range items {
		end = max(end, e.items[i].end)
	}
	first := &e.items[items[0]]
	c.call(q, first.op.Origin, c.regions.callOf(&first.op, true), end, func(until int64) {
		for _, i := range items {
			it := &e.items[i]
			if id := q.request(it, i); it.op.Kind == schedule.Send {
				q.Isend(q.between(it.start, until), it.op.Peer, c.comm(it.op.World()), int32(it.op.Tag), it.op.Size, id)
			} else {
				q.Post(q.between(it.start, until), id)
			}
		}
	}, nil)
}

// request begins a request for an item.
func (q *callRank) request(it *callItem, i int32) uint64 {
	q.requests++
	q.begun = append(q.begun, request{*it, q.requests, i})
	return q.requests
}

// issue writes down the start of a collective.
func (c *callRecorder) issue(rank, i int32) {
	q, it := &c.ranks[rank], &c.emit.items[i]
	region := c.regions.collectiveOf(it.op.Origin, it.call.Op, true)
	c.call(q, it.op.Origin, region, max(q.now, it.end), func(int64) {
		q.Issue(unit.Duration(q.now), q.request(it, i))
	}, nil)
}

// settle waits for everything that was begun.
func (c *callRecorder) settle(rank int32) {
	c.waitBefore(rank, func(*request) bool { return true })
}

// waitBefore writes down a wait that the program does not name, if there is something to wait for.
func (c *callRecorder) waitBefore(rank int32, required func(*request) bool) {
	q := &c.ranks[rank]
	count, first := 0, -1
	for i := range q.begun {
		if required(&q.begun[i]) {
			if count++; count == 1 {
				first = i
			}
		}
	}
	if count > 0 {
		op := q.begun[first].op
		c.wait(rank, &op, c.regions.waits(count), q.now, required)
	}
}

// wait writes down a call that completes some requests, at the path of an operation, and ends no
// earlier than the given time.
func (c *callRecorder) wait(rank int32, at *schedule.Op, region regionID, end int64, required func(*request) bool) {
	q := &c.ranks[rank]
	end = max(end, q.now)
	for i := range q.begun {
		if r := &q.begun[i]; required(r) {
			end = max(end, r.finish)
		}
	}
	var begins func(int64)
	if c.tale != nil && at.Kind == schedule.Calc && at.Tag > 0 {
		begins = func(int64) { c.tale(q.LocationBuilder, int(rank), at.Tag, unit.Duration(q.now), false) }
	}
	c.call(q, at.Origin, region, end, begins, func() {
		if begins != nil {
			c.tale(q.LocationBuilder, int(rank), at.Tag, unit.Duration(end), true)
		}
		q.begun = slices.DeleteFunc(q.begun, func(r request) bool {
			if !required(&r) {
				return false
			}
			c.complete(rank, &r, end)
			return true
		})
	})
}

// complete writes down that a request is completed.
func (c *callRecorder) complete(rank int32, r *request, at int64) {
	q := &c.ranks[rank]
	switch r.op.Kind {
	case schedule.Send:
		q.IsendDone(unit.Duration(at), r.id)
	case schedule.Recv:
		q.IrecvDone(unit.Duration(at), r.source, c.comm(r.op.World()), int32(r.tag), r.size, r.id)
	case schedule.Collective:
		s := c.shareOf(rank, &r.call)
		q.Complete(unit.Duration(at), s.op, r.call.Group, s.root, s.sent, s.received, s.counts, r.id)
	}
}

// collective writes down a blocking collective that ends then.
func (c *callRecorder) collective(rank int32, op *schedule.Op, call *schedule.Call, end int64) {
	q := &c.ranks[rank]
	c.call(q, op.Origin, c.regions.collectiveOf(op.Origin, call.Op, false), end, nil, func() {
		s := c.shareOf(rank, call)
		q.Collective(unit.Duration(end), s.op, call.Group, s.root, s.sent, s.received, s.counts)
	})
}

// take makes an item of each operation.
func (e *blockCalls) take(q *callRank, ops []schedule.Op) {
	e.items = slices.Grow(e.items[:0], len(ops))[:len(ops)]
	for i := range ops {
		e.items[i] = callItem{opTimes: q.ops[i], op: ops[i], started: true}
	}
	e.order = append(e.order[:0], q.order...)
}

// gather makes an item of each operation of the program's block: collectives are as early and as late as
// their parts. Their first part is what it takes to issue them.
func (e *blockCalls) gather(q *callRank, b *schedule.Block) {
	e.items = slices.Grow(e.items[:0], len(b.Ops))[:len(b.Ops)]
	for i := range b.Ops {
		e.items[i] = callItem{op: b.Ops[i]}
		if op := &b.Ops[i]; op.Kind == schedule.Collective {
			e.items[i].call = b.Calls[op.Size]
		}
	}
	e.order = e.order[:0]
	for _, k := range q.order {
		i := q.parts[k]
		it, t := &e.items[i], &q.ops[k]
		if !it.started {
			it.opTimes, it.started = *t, true
			e.order = append(e.order, i)
			continue
		}
		it.finish = max(it.finish, t.finish)
	}
}

// reverse lists what each item requires the finish of.
func (e *blockCalls) reverse(n int, first []uint32, dependents []schedule.Dependent) {
	e.first = slices.Grow(e.first[:0], n+2)[:n+2]
	clear(e.first)
	for _, d := range dependents {
		if !d.OnStart() {
			e.first[d.Index()+2]++
		}
	}
	for i := range n {
		e.first[i+2] += e.first[i+1]
	}
	count := int(e.first[n+1])
	e.waits = slices.Grow(e.waits[:0], count)[:count]
	if len(dependents) == 0 {
		return
	}
	for i := range n {
		for _, d := range dependents[first[i]:first[i+1]] {
			if !d.OnStart() {
				at := &e.first[d.Index()+1]
				e.waits[*at] = int32(i)
				*at++
			}
		}
	}
}

// requires are the items of which an item requires the finish, in ascending order.
func (e *blockCalls) requires(i int32) []int32 { return e.waits[e.first[i]:e.first[i+1]] }

// isSessionEnd reports whether a name is that of MPI_Session_finalize. The last one of a replayed rank has no length.
func isSessionEnd(name string) bool {
	return strings.EqualFold(strings.TrimRight(name, "_"), "MPI_Session_finalize")
}

// isFinalize reports whether a name is that of MPI_Finalize.
func isFinalize(name string) bool {
	return strings.EqualFold(strings.TrimRight(name, "_"), "MPI_Finalize")
}
