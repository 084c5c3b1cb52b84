package replay

import (
	"math"

	"slackline/analyze/devices"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// kernelWork is what a kernel carries out.
type kernelWork struct {
	ops []workPart
	met unit.Duration // when all that it waits for had begun in the run
}

// relay lets some ranks wait for others, without a rank of its own: what it receives from all of them it passes on to the others.
type relay struct{ receives, sends []schedule.Op }

// findKernels finds out what communication kernels carry out. With the times of the run (Options.KeepTransfers) they wait for each other as
// they did there, at no cost, and their transfer is kept as time of the kernel; else the simulator computes it.
func (c *converter) findKernels() {
	if c.devices == nil {
		return
	}
	d := c.t.Devices
	all := c.t.WithStreams()
	if !c.options.WithoutCollectives {
		for k := range d.Collectives {
			c.kernelCollective(d, &d.Collectives[k], c.groups.ofComm[len(c.t.Comms)+int(d.Collectives[k].Comm)],
				uint32(len(all.Comms)+len(c.t.Collectives)+k)+1)
		}
	}
	if !c.options.WithoutMessages {
		for k := range d.Messages {
			c.kernelMessage(d, &d.Messages[k])
		}
	}
	for o := range c.devices.work {
		if path := d.Streams[o.At].Path[o.Index]; c.kinds[path] == userCall {
			c.kinds[path] = opaqueCall // not computation
		}
	}
}

// workOf is what a kernel carries out.
func (c *converter) workOf(stream, act int32) *kernelWork {
	o := devices.Op{At: stream, Index: act}
	if c.devices.work[o] == nil {
		c.devices.work[o] = &kernelWork{}
	}
	return c.devices.work[o]
}

// kernelCollective adds a collective of kernels.
func (c *converter) kernelCollective(d *timeline.Devices, col *timeline.Collective, group int32, tag uint32) {
	op, known := operations[col.Op]
	if !known || group < 0 {
		return
	}
	members := d.Members[col.First:][:d.Comms[col.Comm].Size()]
	call := schedule.Call{Op: op, Group: group, Root: max(col.Root, 0), Tag: tag}
	c.report.Collectives++
	if int(group) < c.groups.global {
		c.report.OfAllRanks++
	}
	if !c.options.KeepTransfers {
		c.setSizes(&call, col.Op, members)
		c.addKernels(members, &call)
		return
	}
	begin := func(i int) unit.Duration { return d.Streams[members[i].Location].Begin[members[i].Issue] }
	switch op {
	case schedule.Bcast, schedule.Scatter:
		call.Op, call.Algorithm = schedule.Bcast, "linear"
		for i := range members {
			c.meets(&members[i], begin(int(call.Root)))
		}
	case schedule.Reduce, schedule.Gather:
		call.Op, call.Algorithm = schedule.Reduce, "linear"
		for i := range members {
			c.meets(&members[call.Root], begin(i))
		}
	default:
		whole := true
		for i := range members {
			for k := range members {
				if op == schedule.Barrier || members[k].Sent != 0 && members[i].Received != 0 {
					c.meets(&members[i], begin(k))
				} else {
					whole = false
				}
			}
		}
		if !whole {
			c.addRelay(d, members)
			return
		}
		call.Op = schedule.Barrier
	}
	c.addKernels(members, &call)
}

// meets notes that a kernel had to wait for another one to begin.
func (c *converter) meets(m *timeline.Member, t unit.Duration) {
	x := c.workOf(m.Location, m.Issue)
	x.met = max(x.met, t)
}

// addKernels adds a call to what the kernels of a collective carry out. With the times of the run it stands for another operation, whose
// data is in the time of the kernel.
func (c *converter) addKernels(members []timeline.Member, call *schedule.Call) {
	at := c.calls.add(call)
	begun := unit.Duration(math.MinInt64)
	for i := range members {
		begun = max(begun, c.t.Devices.Streams[members[i].Location].Begin[members[i].Issue])
	}
	for i := range members {
		x := c.workOf(members[i].Location, members[i].Issue)
		op := schedule.Op{Kind: schedule.Collective, Size: int64(at)}
		if c.options.KeepTransfers {
			op.Context = schedule.InnerContext
		}
		x.ops = append(x.ops, workPart{op, begun})
	}
}

// addRelay lets the members of a collective that receive something wait for those that send something.
func (c *converter) addRelay(d *timeline.Devices, members []timeline.Member) {
	home := d.Streams[members[0].Location].Rank
	r := relay{}
	for i := range members {
		m := &members[i]
		x, rank := c.workOf(m.Location, m.Issue), int32(d.Streams[m.Location].Rank)
		if m.Sent != 0 {
			c.innerTag++
			x.message(schedule.Send, home, 0, c.innerTag)
			r.receives = append(r.receives, innerMessage(schedule.Recv, rank, 0, c.innerTag))
		}
		if m.Received != 0 {
			c.innerTag++
			x.message(schedule.Recv, home, 0, c.innerTag)
			r.sends = append(r.sends, innerMessage(schedule.Send, rank, 0, c.innerTag))
		}
	}
	c.devices.relays[home] = append(c.devices.relays[home], r)
}

// relay appends the operations of a relay, on the CPU of communication.
func (d *deviceWalk) relay(r *relay) {
	var received []uint32
	for _, op := range r.receives {
		op.CPU = commCPU
		received = append(received, d.add(op))
	}
	for _, op := range r.sends {
		op.CPU = commCPU
		d.add(op, received...)
	}
}

// message adds a message to what a kernel carries out.
func (x *kernelWork) message(kind schedule.Kind, peer int, size int64, tag uint32) {
	x.ops = append(x.ops, workPart{Op: innerMessage(kind, int32(peer), size, tag)})
}

func innerMessage(kind schedule.Kind, peer int32, size int64, tag uint32) schedule.Op {
	return schedule.Op{Kind: kind, Peer: peer, Size: size, Tag: tag, Context: schedule.InnerContext}
}

// kernelMessage adds a message between two kernels. With the times of the run the sender waits for the receiver, too, if it did there.
func (c *converter) kernelMessage(d *timeline.Devices, m *timeline.Message) {
	from, to := &d.Streams[m.From], &d.Streams[m.To]
	if from.Rank == to.Rank {
		return
	}
	sender, receiver := c.workOf(m.From, m.Send), c.workOf(m.To, m.Recv)
	size := max(m.Size, 0)
	if c.options.KeepTransfers {
		size = 0
		receiver.met = max(receiver.met, from.Begin[m.Send])
		if from.End[m.Send] >= to.Begin[m.Recv] {
			sender.met = max(sender.met, to.Begin[m.Recv])
			c.innerTag++
			receiver.message(schedule.Send, from.Rank, 0, c.innerTag)
			sender.message(schedule.Recv, to.Rank, 0, c.innerTag)
		}
	}
	c.innerTag++
	c.report.Messages++
	sender.message(schedule.Send, to.Rank, size, c.innerTag)
	receiver.message(schedule.Recv, from.Rank, size, c.innerTag)
}
