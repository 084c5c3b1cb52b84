package simulate

import (
	"slackline/model/machine"
	"slackline/model/schedule"
)

// The values of a in the key of a local operation.
const (
	opSend = int32(schedule.Send)
	opRecv = int32(schedule.Recv)
	opCalc = int32(schedule.Calc)
)

// run carries out the events of a host that happen before end, and returns the time of the next
// one (never if there is none).
func (g *general) run(host int32, end int64) int64 {
	for {
		i, at, class := g.next(host)
		if i == 0 {
			return never
		}
		if at >= end {
			return at
		}
		g.take(host, i, class)
		g.carryOut(host, i, at)
	}
}

// carryOut carries out one event, whose node has been taken out of the queues, at time t.
func (g *general) carryOut(host, i int32, t int64) {
	n := &g.nodes[i]
	g.now, g.nowBirth, g.nowGen = t, n.birth, n.gen()
	switch n.kind() {
	case kindMessage:
		g.message(host, i)
	case kindRelease:
		g.released(host, i)
	default:
		rank, index, a := n.rank(), n.b(), n.a()
		g.freeNode(i)
		g.stats.ops++
		switch a {
		case opSend:
			g.sendOp(host, rank, index)
		case opRecv:
			g.recvOp(rank, index)
		case opCalc:
			g.calcOp(rank, index)
		}
	}
	if len(g.ready) > 0 {
		g.insertReady()
	}
}

// calcOp is rule R4.
func (g *general) calcOp(rank, index int32) {
	op := &g.rank[rank].ops[index]
	work, cpu := op.Size, op.CPU
	end := g.cpuEnd(rank, cpu, g.now, work)
	g.nexto[int(rank)*g.cpus+int(cpu)] = end
	if g.breakdown != nil {
		g.breakdown[rank].compute += work
		g.breakdown[rank].noise += end - g.now - work
	}
	if g.recorder != nil {
		g.recorder.calc(rank, index, op, g.now, end)
	}
	g.startOp(rank, index, g.now)
	g.finishOp(rank, index, end)
}

// sendOp is rule R5.
func (g *general) sendOp(host, rank, index int32) {
	op := &g.rank[rank].ops[index]
	t, cpu := g.now, op.CPU
	class := g.costs.class(g.global(rank), op.Peer)
	c := g.costs.of(class, op.Size)
	if c.Overflow {
		g.overflow = true
	}
	left := g.cpuEnd(rank, cpu, t, c.Overhead)
	end := g.cpuEnd(rank, cpu, left, c.CPUBytes)
	arrival := g.add(left, c.Latency)
	g.nexto[int(rank)*g.cpus+int(cpu)] = end
	g.nextgs[int(host)*g.nics+int(op.NIC)] = g.add(g.add(t, c.Gap), c.Bytes)
	if g.breakdown != nil {
		g.breakdown[rank].overhead += c.Overhead + c.CPUBytes
		g.breakdown[rank].noise += end - t - c.Overhead - c.CPUBytes
	}

	gen := uint32(0)
	if g.nowBirth == t {
		gen = g.nowGen + 1
	}
	i := g.newNode()
	n := &g.nodes[i]
	*n = node{
		time:  arrival,
		birth: t,
		who:   whoKey(gen, kindMessage, 0),
		what:  uint64(uint32(g.global(rank)))<<32 | uint64(uint32(index)),
		size:  op.Size,
		own:   end,
		tag:   op.Tag,
		cpu:   cpu,
		nic:   op.NIC,
		ctx:   op.Context,
		class: class,
	}
	g.stats.messages++
	if g.recorder != nil {
		g.recorder.send(i, host, rank, index, op, c, t, end, arrival)
	}
	g.hand(host, op.Peer, i)
	g.startOp(rank, index, t)
	if c.Rendezvous && !op.IsBuffered() {
		g.stats.Rendezvous++
		g.large = g.eager
	} else {
		g.finishOp(rank, index, end)
	}
}

// hand takes a message or a release from a host to the rank of the whole that it acts on.
func (g *general) hand(from, rank, i int32) {
	to := g.hostOf(rank)
	if uint32(to) >= uint32(g.hosts) {
		g.depart(to, rank, i)
		return
	}
	g.nodes[i].who |= uint64(uint32(g.local(rank)))
	if to == from {
		g.insert(to, i)
	} else {
		g.deliver(to, i)
	}
}

// message is rule R6.
func (g *general) message(host, i int32) {
	n := &g.nodes[i]
	rank, t := n.rank(), g.now
	c := g.costs.of(n.class, n.size)
	var end int64
	if g.noise == nil {
		end = g.add(g.add(t, max(c.CPUBytes, c.Bytes)), c.Overhead)
	} else {
		x := max(g.cpuEnd(rank, n.cpu, t, c.CPUBytes), g.add(t, c.Bytes))
		end = g.cpuEnd(rank, n.cpu, x, c.Overhead)
	}
	g.nexto[int(rank)*g.cpus+int(n.cpu)] = end
	g.nextgr[int(host)*g.nics+int(n.nic)] = g.add(g.add(t, c.Gap), c.Bytes)
	if g.breakdown != nil {
		work := max(c.CPUBytes, c.Bytes) + c.Overhead
		g.breakdown[rank].overhead += work
		g.breakdown[rank].noise += end - t - work
	}
	if g.recorder != nil {
		g.recorder.message(i, host, n, c, t, end)
	}
	r := &g.rank[rank]
	if index, ok := r.posted.takeReceive(n.a(), n.tag, n.world()); ok {
		g.stats.Expected++
		if g.recorder != nil {
			g.recorder.match(i, rank, index, n, &r.ops[index], end)
		}
		g.finishOp(rank, index, end)
		g.matched(i, n.waitedFor(c))
		return
	}
	g.stats.Unexpected++
	n.time = end
	r.unexpected.pushMessage(item{source: n.a(), tag: n.tag, ctx: n.world(), id: i})
	g.stats.MaxUnexpected = max(g.stats.MaxUnexpected, r.unexpected.len())
}

// recvOp is rule R7.
func (g *general) recvOp(rank, index int32) {
	r := &g.rank[rank]
	op := &r.ops[index]
	t := g.now
	if g.recorder != nil {
		g.recorder.post(rank, index, t)
	}
	g.startOp(rank, index, t)
	if i, ok := r.unexpected.takeMessage(op.Peer, op.Tag, op.Context); ok {
		n := &g.nodes[i]
		end := max(t, n.time)
		if g.recorder != nil {
			g.recorder.match(i, rank, index, n, op, end)
		}
		g.finishOp(rank, index, end)
		g.matched(i, n.waitedFor(g.costs.of(n.class, n.size)))
		return
	}
	r.posted.pushReceive(item{source: op.Peer, tag: op.Tag, ctx: op.Context, id: index})
	g.stats.MaxPosted = max(g.stats.MaxPosted, r.posted.len())
}

// matched ends a message that has found its receive: a large one releases its sender (rule R9).
func (g *general) matched(i int32, rendezvous bool) {
	if !rendezvous {
		g.freeNode(i)
		return
	}
	n := &g.nodes[i]
	receiver, sender, index := n.rank(), n.a(), n.b()
	n.time = g.now
	n.birth = g.nowBirth
	n.who = whoKey(g.nowGen, kindRelease, 0)
	n.what = uint64(uint32(g.global(receiver)))<<32 | uint64(uint32(index))
	g.hand(g.host(receiver), sender, i)
}

// released is the rest of rule R9, on the sender's host.
func (g *general) released(host, i int32) {
	n := &g.nodes[i]
	rank, index, t := n.rank(), n.b(), g.now
	cpu := &g.nexto[int(rank)*g.cpus+int(n.cpu)]
	*cpu = max(*cpu, t)
	nic := &g.nextgs[int(host)*g.nics+int(n.nic)]
	*nic = max(*nic, t)
	end := max(n.own, t)
	if g.recorder != nil {
		g.recorder.released(i, host, n, end)
	}
	if g.freed != nil {
		g.freed(rank, index)
	}
	g.freeNode(i)
	g.finishOp(rank, index, end)
}

// Messages and releases to other processes and from them.

// depart takes a message or a release to a rank of another process; host is its host.
func (g *general) depart(host, rank, i int32) {
	n := &g.nodes[i]
	if n.time != never {
		g.departed = min(g.departed, n.time)
		if g.leaving != nil {
			g.leaving(host, n)
		}
		g.ports.send(host+g.firstHost, &envelope{
			time: n.time, birth: n.birth, load: uint64(n.size), own: n.own,
			order: leanOrder(n.gen(), uint32(n.kind())),
			place: uint32(n.cpu) | uint32(n.nic)<<8 | uint32(n.ctx)<<16 | uint32(n.class)<<24,
			from:  n.a(), to: rank, index: n.b(), tag: n.tag,
		})
	}
	g.freeNode(i)
}

// arrive takes a message or a release from another process and returns its node.
func (g *general) arrive(p *envelope) int32 {
	i := g.newNode()
	g.nodes[i] = node{
		time: p.time, birth: p.birth,
		who:  whoKey(p.order>>2, int(p.order&3), g.local(p.to)),
		what: uint64(uint32(p.from))<<32 | uint64(uint32(p.index)),
		size: int64(p.load), own: p.own, tag: p.tag,
		cpu: uint8(p.place), nic: uint8(p.place >> 8), ctx: uint8(p.place >> 16), class: machine.Class(p.place >> 24),
	}
	return i
}
