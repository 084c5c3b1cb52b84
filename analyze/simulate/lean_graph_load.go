package simulate

import "slackline/model/schedule"

// This file brings blocks with dependencies into the lean core.

// loadGraph takes l.block, which has dependencies, as the block of a host, made ready by an event
// at time t; gen is the generation of what it makes ready.
func (l *lean) loadGraph(r int32, h *leanHost, t int64, gen uint32) {
	ops := l.block.Ops
	if len(ops) > maxGraphOps {
		l.unfit = true
		h.open = -1
		return
	}
	n := uint32(len(ops))
	if h.slotBits == 0 || n > 1<<(h.slotBits-1) {
		l.newSlot(h, int(n))
	}
	l.growLinks()
	i := l.newGraph()
	h.graph = true
	h.sends, h.recvs, h.calcs, h.recvd, h.calced = 0, 0, 0, 0, 0
	h.sent = i
	g := &l.graphs[i]
	g.kinds = l.fillGraph(l.ops[h.slot:h.slot+n], ops)
	g.size = int32(n)
	roots := ^uint64(0) >> (64 - n) &^ g.link(l.linksOf(h), l.block.First, l.block.Dependents)
	sends, recvs := roots&g.kinds[opSend], roots&g.kinds[opRecv]
	g.ready = [3]uint64{opSend: sends, opRecv: recvs, opCalc: roots &^ (sends | recvs)}
	born := readyBirth{birth: t, gen: gen}
	g.born = [3]readyBirth{born, born, born}
	g.post = h.nexto
	h.posted = 0
	h.finish = 0
	h.open = int32(n)
	if l.large != nil {
		l.large.newPhase(r)
	}
}

// growLinks makes room for the links of all slots.
func (l *lean) growLinks() {
	if missing := linksPerOp*len(l.ops) - len(l.links); missing > 0 {
		l.links = append(l.links, make([]uint64, missing)...)
	}
}

// touch reads something of each cache line of a block that lies in the memory of the program. The
// operations and the dependencies of each rank are in other places, far from what was read last:
// like this the processor fetches all of them at the same time, and not one after the other when
// they are needed.
func (l *lean) touch(b *schedule.Block) {
	const most, perLine = 64, 16
	sum := uint64(0)
	for i := 0; i < min(len(b.Ops), most); i += 2 {
		sum += uint64(b.Ops[i].Size)
	}
	for i := 0; i < min(len(b.First), most); i += perLine {
		sum += uint64(b.First[i])
	}
	for i := 0; i < min(len(b.Dependents), 2*most); i += perLine {
		sum += uint64(b.Dependents[i])
	}
	l.touched = sum // so that the reads are not left out
}

// fillGraph copies the operations of a block into a slot, in their order, and returns which of them
// are sends and receives.
func (l *lean) fillGraph(slot []leanOp, ops []schedule.Op) (kinds [2]uint64) {
	for i := range slot {
		op := &ops[i]
		switch op.Kind {
		case schedule.Send:
			if op.Size > sizeMask {
				l.unfit = true
			}
			kinds[opSend] |= 1 << i
			slot[i] = leanOp{uint64(op.Size)&sizeMask | uint64(op.Context)<<contextShift, op.Peer, op.Tag}
		case schedule.Recv:
			kinds[opRecv] |= 1 << i
			slot[i] = leanOp{uint64(op.Context) << contextShift, op.Peer, op.Tag}
		default:
			slot[i] = leanOp{load: uint64(op.Size)}
		}
	}
	return kinds
}

// link fills the links of a block and returns which operations wait for others.
func (g *leanGraph) link(links []uint64, first []uint32, dependents []schedule.Dependent) (waiting uint64) {
	g.awaitedStart, g.awaitedFinish = 0, 0
	n := int(g.size)
	clear(links[:n])
	entry := n
	for i := range n {
		from, to := first[i], first[i+1]
		if from == to {
			continue
		}
		onStart, onFinish := uint64(0), uint64(0)
		for _, d := range dependents[from:to] {
			w := d.Index()
			if d.OnStart() {
				onStart |= 1 << w
			} else {
				onFinish |= 1 << w
			}
			links[w] |= 1 << i
		}
		waiting |= onStart | onFinish
		onStart &^= onFinish // what has finished has started
		links[entry], links[entry+1] = onStart, onFinish
		entry += 2
		if onStart != 0 {
			g.awaitedStart |= 1 << i
		}
		if onFinish != 0 {
			g.awaitedFinish |= 1 << i
		}
	}
	return waiting
}

func (l *lean) newGraph() int32 {
	if n := len(l.noGraph); n > 0 {
		i := l.noGraph[n-1]
		l.noGraph = l.noGraph[:n-1]
		return i
	}
	l.graphs = append(l.graphs, leanGraph{})
	return int32(len(l.graphs) - 1)
}

// dropGraph gives the leanGraph of a host back, whose block has ended.
func (l *lean) dropGraph(h *leanHost) {
	l.noGraph = append(l.noGraph, h.sent)
	h.graph = false
	h.sent = 0
}

// largeGraphs reports whether a program in memory has a block that is too large for the lean core.
func (r *run) largeGraphs() bool {
	p, ok := r.program.(*schedule.Packed)
	return ok && !p.Shape().Collectives && p.LargestLinked() > maxGraphOps
}
