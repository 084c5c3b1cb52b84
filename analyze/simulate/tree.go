package simulate

import (
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// tree is a program in which every rank but the root receives one message, its first work, and
// then only sends: a broadcast or scatter along a tree, a chain, a token. Such a program can be
// evaluated in one pass from the root on, without events, with the numbers of the rules: when the
// message of a rank arrives the rank has done nothing yet, so nothing else wants its CPU, and all
// its sends begin after the end of the receive, in their order. No tie decides anything.
//
// Building a tree asks the program once for every rank; evaluating it is fast. That pays for
// replicas.
type tree struct {
	ranks int
	// Ranks in the order of a breadth-first walk: the receiver of the k-th send of all is the
	// rank at place k+1.
	rank  []int32
	first []int32  // the rank at place i has the sends first[i] .. first[i+1]-1
	cost  []uint16 // by send: place in costs
	costs []machine.Cost
}

// newTree returns the tree of a program, or nil if it is none: it has large messages, wildcards,
// several CPUs, computation, more than one root, or a rank that receives after it sends.
func newTree(p *problem) *tree {
	s := p.shape
	if s.CPUs != 1 || s.NICs != 1 || s.Wildcards || s.Graphs || p.shared {
		return nil
	}
	b := treeBuilder{problem: p, known: make(map[treeCost]uint16)}
	root, ok := b.findRoot()
	if !ok {
		return nil
	}
	b.tree = &tree{ranks: p.ranks, rank: append(make([]int32, 0, p.ranks), root), first: make([]int32, 1, p.ranks+1)}
	b.incoming = make([]incoming, p.ranks)
	b.incoming[root].known = true
	for i := 0; i < len(b.rank); i++ {
		if !b.add(b.rank[i], i == 0) {
			return nil
		}
	}
	for r := range b.incoming {
		// A rank that was not reached must have nothing to do.
		if _, busy := p.stream.Next(r, schedule.Cursor{}, &b.block); busy && !b.incoming[r].known {
			return nil
		}
	}
	return b.tree
}

// treeBuilder is the state of newTree.
type treeBuilder struct {
	*problem
	*tree
	block    schedule.Block
	known    map[treeCost]uint16
	incoming []incoming // by rank
}

type treeCost struct {
	class machine.Class
	size  int64
}

// incoming is the message that a rank gets.
type incoming struct {
	from  int32
	tag   uint32
	ctx   uint8
	known bool
}

// findRoot returns the only rank that begins with a send.
func (b *treeBuilder) findRoot() (root int32, ok bool) {
	for r := range int32(b.problem.ranks) {
		_, busy := b.stream.Next(int(r), schedule.Cursor{}, &b.block)
		if !busy {
			continue
		}
		switch {
		case b.block.Ops[0].Kind != schedule.Recv && ok:
			return 0, false
		case b.block.Ops[0].Kind == schedule.Send:
			root, ok = r, true
		case len(b.block.Ops) > 1:
			return 0, false
		}
	}
	return root, ok
}

// add appends the sends of a rank and their receivers. It reports whether the rank does what a
// rank of a tree does.
func (b *treeBuilder) add(rank int32, root bool) bool {
	at, ok := b.stream.Next(int(rank), schedule.Cursor{}, &b.block)
	if !root {
		in := &b.incoming[rank]
		if !ok || len(b.block.Ops) != 1 {
			return false
		}
		if op := &b.block.Ops[0]; op.Kind != schedule.Recv || op.Peer != in.from || op.Tag != in.tag || op.Context != in.ctx {
			return false
		}
		at, ok = b.stream.Next(int(rank), at, &b.block)
	}
	for ; ok; at, ok = b.stream.Next(int(rank), at, &b.block) {
		for i := range b.block.Ops {
			if op := &b.block.Ops[i]; op.Kind != schedule.Send || !b.send(rank, op) {
				return false
			}
		}
	}
	b.first = append(b.first, int32(len(b.cost)))
	return true
}

// send appends a send to a rank that has got no message yet.
func (b *treeBuilder) send(rank int32, op *schedule.Op) bool {
	in := &b.incoming[op.Peer]
	if in.known {
		return false
	}
	*in = incoming{rank, op.Tag, op.World(), true}
	key := treeCost{b.layout.Class(int(rank), int(op.Peer)), op.Size}
	index, ok := b.known[key]
	if !ok {
		c := b.layout.Machine.Classes[key.class].Cost(op.Size)
		if c.Rendezvous || c.Overflow || len(b.costs) > 1<<16-1 {
			return false
		}
		index = uint16(len(b.costs))
		b.costs = append(b.costs, c)
		b.known[key] = index
	}
	b.cost = append(b.cost, index)
	b.rank = append(b.rank, op.Peer)
	return true
}

// treeMemory is the memory of an evaluation, kept for the next one.
type treeMemory struct {
	finish  []unit.Duration
	arrival []int64
}

// evaluate returns the result of the tree under noise (nil: none).
func (t *tree) evaluate(in *noise.Injection, memory *treeMemory) (*Result, error) {
	finish, arrival := zeroed(memory.finish, t.ranks), zeroed(memory.arrival, len(t.rank))
	memory.finish, memory.arrival = finish, arrival
	e := treeEvaluation{noise: in}
	for i, rank := range t.rank {
		e.rank, e.hint, e.position = int(rank), 0, 0
		nexto, nextgs := int64(0), int64(0)
		if i > 0 {
			c := &t.costs[t.cost[i-1]]
			x := e.add(arrival[i], c.Bytes)
			if c.CPUBytes != 0 {
				x = max(x, e.cpuEnd(arrival[i], c.CPUBytes))
			}
			nexto = e.cpuEnd(x, c.Overhead)
		}
		for k := t.first[i]; k < t.first[i+1]; k++ {
			c := &t.costs[t.cost[k]]
			start := max(nexto, nextgs)
			left := e.cpuEnd(start, c.Overhead)
			nexto = left
			if c.CPUBytes != 0 {
				nexto = e.cpuEnd(left, c.CPUBytes)
			}
			arrival[k+1] = e.add(left, c.Latency)
			nextgs = e.add(start, e.add(c.Gap, c.Bytes))
		}
		finish[rank] = unit.Duration(nexto)
	}
	if e.overflow {
		return nil, ErrOverflow
	}
	messages := int64(len(t.cost))
	r := &Result{Finish: finish, Engine: "tree", Threads: 1, Messages: messages, Ops: 2 * messages}
	r.Queues = Queues{Expected: messages, MaxPosted: min(int(messages), 1)}
	for _, f := range finish {
		r.Makespan = max(r.Makespan, f)
	}
	return r, nil
}

// treeEvaluation is the rank at hand.
type treeEvaluation struct {
	noise    *noise.Injection
	rank     int
	hint     int32
	position int64
	overflow bool
}

func (e *treeEvaluation) add(a, b int64) int64 {
	if s := a + b; s >= 0 {
		return s
	}
	e.overflow = true
	return never
}

// cpuEnd is rule R8.
func (e *treeEvaluation) cpuEnd(t, work int64) int64 {
	if e.noise == nil {
		return e.add(t, work)
	}
	var end int64
	if e.noise.Clock() == noise.TimeClock {
		end = e.noise.Finish(e.rank, t, work, &e.hint)
	} else {
		end = e.noise.Advance(e.rank, t, work, &e.position, &e.hint)
	}
	if end < 0 {
		e.overflow = true
		return never
	}
	return end
}
