package replay

import (
	"slices"

	"slackline/model/schedule"
	"slackline/model/timeline"
)

// Some calls are more than messages and collectives of the program: one-sided communication, collectives among neighbors or between
// groups, windows and files that are opened. They become inner operations: messages that no call of the program names, such as those of
// a target that takes part in MPI_Put without calling anything, and collectives. What such a call is, is kept as a tale (tales.go), so that
// a simulated run has the same calls.

// inner is an inner operation of a location.
type inner struct {
	op         schedule.Op
	begin, end int32   // calls: in which it begins, and which requires its finish; noCall: none does
	after      []int32 // inner operations of the location whose finish it requires, instead of what the rank did before
}

// composed is an MPI call that consists of inner operations: those that begin in it, and those that it completes.
type composed struct {
	begun, ended []int32
	acts         []act
}

// innerOps are the inner operations of a location and its composed calls.
type innerOps struct {
	list  []inner
	calls map[int32]*composed
}

// composedCall returns what is known of a call that becomes inner operations.
func (c *converter) composedCall(location, call int32) *composed {
	o := &c.inner[location]
	if o.calls == nil {
		o.calls = map[int32]*composed{}
	}
	if o.calls[call] == nil {
		o.calls[call] = &composed{}
	}
	return o.calls[call]
}

// addInner adds an inner operation and returns its number at its location.
func (c *converter) addInner(location int32, x inner) int32 {
	x.op.Context = max(x.op.Context, schedule.InnerContext)
	o := &c.inner[location]
	number := int32(len(o.list))
	o.list = append(o.list, x)
	begin := c.composedCall(location, x.begin)
	begin.begun = append(begin.begun, number)
	if x.end != noCall && x.end != x.begin {
		end := c.composedCall(location, x.end)
		end.ended = append(end.ended, number)
	}
	return number
}

// callSpan is from the call in which something begins to the one that completes it.
type callSpan struct{ begin, end int32 }

// addMessage adds an inner message between two locations. Each has a tag of its own.
func (c *converter) addMessage(from int32, send callSpan, to int32, recv callSpan, size int64) (sent, received int32) {
	c.innerTag++
	c.report.InnerMessages++
	half := func(kind schedule.Kind, peer int32, at callSpan) inner {
		op := schedule.Op{Kind: kind, Peer: int32(c.t.Locations[peer].Rank), Size: size, Tag: c.innerTag}
		return inner{op: op, begin: at.begin, end: at.end}
	}
	return c.addInner(from, half(schedule.Send, to, send)), c.addInner(to, half(schedule.Recv, from, recv))
}

// require lets an inner operation of a location require others instead of what the rank did before.
func (c *converter) require(location, number int32, others ...int32) {
	x := &c.inner[location].list[number]
	x.after = append(x.after, others...)
}

// addCollective adds a part in an inner collective.
func (c *converter) addCollective(location int32, at callSpan, call *schedule.Call, after ...int32) int32 {
	op := schedule.Op{Kind: schedule.Collective, Size: int64(c.calls.add(call))}
	return c.addInner(location, inner{op: op, begin: at.begin, end: at.end, after: after})
}

// canCompose reports whether all members of a collective are masters inside of MPI calls between MPI_Init and MPI_Finalize.
func (c *converter) canCompose(members []timeline.Member) bool {
	for i := range members {
		m := &members[i]
		calls := &c.t.Locations[m.Location].Calls
		if !c.masters[m.Location] || !c.inMPI(calls, m.Issue) || !c.inMPI(calls, m.Complete) {
			return false
		}
		for _, call := range []int32{m.Issue, m.Complete} {
			if kind := c.kinds[calls.Path[call]]; kind == initCall || kind == finalizeCall {
				return false
			}
		}
	}
	return true
}

// composedOf returns what the calls from .. to-1 of the location consist of; nil: of nothing but messages and collectives.
func (w *walker) composedOf(from, to int32) *composed {
	calls := w.inner[w.location].calls
	if len(calls) == 0 {
		return nil
	}
	all := calls[from]
	for call := from + 1; call < to; call++ {
		if more := calls[call]; more != nil && all == nil {
			all = more
		} else if more != nil {
			all = &composed{append(all.begun, more.begun...), append(all.ended, more.ended...), append(all.acts, more.acts...)}
		}
	}
	return all
}

// beginInner appends the inner operations that begin in a call and returns those that it also completes.
func (b *blockWriter) beginInner(x *composed, origin uint32) (own []int32) {
	var next []front
	plain := false
	for _, i := range x.begun {
		in := &b.inner[i]
		op := in.op
		op.Origin = origin
		b.collectives = b.collectives || op.Kind == schedule.Collective
		at := b.pushAfter(op, in.after)
		b.innerOp[i] = int32(at)
		b.open++
		b.innerOpen++
		switch {
		case in.begin == in.end:
			next = append(next, front{at, false})
			own = append(own, i)
		case len(in.after) == 0:
			next = append(next, front{at, true})
		}
		plain = plain || len(in.after) == 0
	}
	if !plain {
		next = append(next, b.front...)
	}
	b.front = next
	return own
}

// pushAfter appends an operation that requires the finish of inner operations as far as they are in the block, of all before it if there
// are none.
func (b *blockWriter) pushAfter(op schedule.Op, after []int32) uint32 {
	if !slices.ContainsFunc(after, func(i int32) bool { return b.innerOp[i] != closed }) {
		return b.push(op)
	}
	at := len(b.out.ops) - b.start
	b.out.ops = append(b.out.ops, op)
	for _, i := range after {
		if on := b.innerOp[i]; on != closed {
			b.edges = append(b.edges, edge{uint32(on), schedule.NewDependent(at, false)})
		}
	}
	return uint32(at)
}

// closeInner closes inner operations that the call under way completed.
func (b *blockWriter) closeInner(list []int32) {
	for _, i := range list {
		if b.innerOp[i] != closed {
			b.innerOp[i] = closed
			b.open--
			b.innerOpen--
		}
	}
}
