package simulate

import (
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
)

// general is the core that has all rules: blocks with dependencies, several CPUs and NICs, hosts
// whose ranks share NICs, wildcards, rendezvous, noise. It carries out the events of its hosts one
// at a time in the order of their keys; a driver (the window engine or the event engine) decides
// which host may go on and how far.
//
// Blocked events are not inserted again and again. An event that finds a resource busy moves to
// the wait heap of its class (the rank, CPU and NIC that it needs); all events of a class can
// start at the same moment, when the resources of the class are free, so only the rest of the key
// orders them. This gives the order of the rules because resource times never decrease.
type general struct {
	*generalState
	costs costs
	block schedule.Block

	nodes []node
	free  int32 // list of unused nodes

	// deliver takes a message or a release to another host of this process; the node belongs to the
	// receiver then.
	deliver  func(host int32, i int32)
	ports    ports // to other processes
	departed int64 // earliest time at which something acts there that was sent in this round
	// leaving is called when something goes to a host of another process, freed when a large send of
	// a rank has been released; nil: not needed.
	leaving func(host int32, n *node)
	freed   func(rank, index int32)

	// What the event under way has made ready, and when it was carried out.
	ready    []readyOp
	now      int64
	nowBirth int64
	nowGen   uint32
	overflow bool
	eager    bool // the driver cannot do rendezvous: stop at a large message
	large    bool // a large message was met although eager
	stats    counters
	recorder *recorder // nil: nothing is recorded
}

// generalState is the state of all ranks and hosts of the process. Each is touched only by the thread
// that owns its host. Ranks and hosts have their numbers in the partition of the process; only senders and
// receivers (op.Peer, and a in the keys of messages and releases) are ranks of the whole.
type generalState struct {
	*problem
	cpus, nics int

	nexto          []int64 // by rank and CPU
	nextgs, nextgr []int64 // by host and NIC
	hints          []int32 // by rank and CPU: where the last question to the noise ended
	positions      []int64 // by rank and CPU: in the noise; nil: that is the simulated time

	rank      []rankState
	future    []int32        // by host: heap of future events
	waiting   [][]waitClass  // by host: classes with waiting events
	breakdown []breakdownSum // by rank; nil: not wanted
}

// rankState is where a rank is in its program.
type rankState struct {
	ops        []schedule.Op
	first      []uint32
	dependents []schedule.Dependent
	state      []opState // by operation; nil in a phase
	own        ownBlock

	cursor  schedule.Cursor
	base    int   // operations in the blocks before
	open    int   // operations of the block that have not finished
	finish  int64 // latest finish in the block
	started int64 // operations started, over all blocks

	posted     queue // receives
	unexpected queue // messages
}

// ownBlock is memory for blocks that are made on demand.
type ownBlock struct {
	ops        []schedule.Op
	first      []uint32
	dependents []schedule.Dependent
}

// opState is what an operation waits for.
type opState struct {
	ready   int64 // latest of the times that satisfied its dependencies so far
	missing uint32
}

type readyOp struct {
	rank  int32
	index int32
	time  int64 // R3's rho
}

// counters are the statistics of a thread.
type counters struct {
	messages, ops int64
	Queues
}

// breakdownSum collects Breakdown.
type breakdownSum struct{ compute, overhead, noise int64 }

// node is an event: an operation that is ready, a message, or a release. Unexpected messages stay
// in their nodes.
type node struct {
	time  int64
	birth int64
	who   uint64 // generation, kind and rank that the event acts on: see whoKey
	what  uint64 // a and b of the key
	size  int64  // message: bytes
	own   int64  // rendezvous: when the CPU of the sender is done
	tag   uint32
	child int32 // heap links
	next  int32
	cpu   uint8
	nic   uint8
	ctx   uint8
	class machine.Class
}

// world is the context of a message, without how it is sent.
func (n *node) world() uint8 { return n.ctx &^ schedule.Buffered }

// waitedFor reports whether the sender of a message with this cost waits for its receive.
func (n *node) waitedFor(c *machine.Cost) bool {
	return c.Rendezvous && n.ctx&schedule.Buffered == 0
}

// Kinds of events, in the order of the tie rule.
const (
	kindLocal   = 0
	kindMessage = 1
	kindRelease = 2
)

func whoKey(gen uint32, kind int, rank int32) uint64 {
	return uint64(gen)<<33 | uint64(kind)<<31 | uint64(uint32(rank))
}

func (n *node) gen() uint32 { return uint32(n.who >> 33) }
func (n *node) kind() int   { return int(n.who>>31) & 3 }
func (n *node) rank() int32 { return int32(n.who & (1<<31 - 1)) }
func (n *node) a() int32    { return int32(n.what >> 32) }
func (n *node) b() int32    { return int32(uint32(n.what)) }

func newGeneralState(p *problem, breakdown bool) *generalState {
	g := &generalState{
		problem: p,
		cpus:    p.shape.CPUs,
		nics:    p.shape.NICs,
		rank:    make([]rankState, p.ranks),
		future:  make([]int32, p.hosts),
		waiting: make([][]waitClass, p.hosts),
	}
	g.nexto = make([]int64, p.ranks*g.cpus)
	g.nextgs = make([]int64, p.hosts*g.nics)
	g.nextgr = make([]int64, p.hosts*g.nics)
	if p.noise != nil {
		g.hints = make([]int32, p.ranks*g.cpus)
		if p.noise.Clock() == noise.CPUClock {
			g.positions = make([]int64, p.ranks*g.cpus)
		}
	}
	if breakdown {
		g.breakdown = make([]breakdownSum, p.ranks)
	}
	return g
}

func newGeneral(s *generalState) *general {
	g := &general{generalState: s, nodes: make([]node, 1, 1024)}
	g.costs.p = s.problem
	return g
}

// start makes the first operations of a rank ready, at time 0.
func (g *general) start(rank int32) {
	g.now, g.nowBirth, g.nowGen = 0, -1, 0
	g.nextBlock(rank, 0)
	g.insertReady()
}

// newNode returns an unused node.
func (g *general) newNode() int32 {
	if i := g.free; i != 0 {
		g.free = g.nodes[i].next
		return i
	}
	g.nodes = append(doubled(g.nodes, 1), node{})
	return int32(len(g.nodes) - 1)
}

func (g *general) freeNode(i int32) {
	g.nodes[i].next = g.free
	g.free = i
}

// add returns a + b, and never (with the overflow noted) if that does not fit into 63 bits.
func (g *general) add(a, b int64) int64 {
	if s := a + b; s >= 0 {
		return s
	}
	g.overflow = true
	return never
}

// cpuEnd returns when the next work on a CPU of a rank ends, if it starts at t (rule R8).
func (g *general) cpuEnd(rank int32, cpu uint8, t, work int64) int64 {
	if g.noise == nil {
		return g.add(t, work)
	}
	var end int64
	if i := int(rank)*g.cpus + int(cpu); g.positions == nil {
		end = g.noise.Finish(int(g.global(rank)), t, work, &g.hints[i])
	} else {
		end = g.noise.Advance(int(g.global(rank)), t, work, &g.positions[i], &g.hints[i])
	}
	if end < 0 {
		g.overflow = true
		return never
	}
	return end
}

// nextBlock loads the next block of a rank and makes its first operations ready at the given
// time. At the end of the program the rank is left without operations.
func (g *general) nextBlock(rank int32, ready int64) {
	r := &g.rank[rank]
	if g.recorder != nil {
		g.recorder.ended(rank, r)
	}
	r.base += len(r.ops)
	at, ok := g.stream.Next(int(g.global(rank)), r.cursor, &g.block)
	if !ok {
		r.ops, r.open = nil, 0
		return
	}
	r.cursor = at
	b := &g.block
	if b.Borrowed() {
		r.ops, r.first, r.dependents = b.Ops, b.First, b.Dependents
	} else {
		r.own.ops = append(r.own.ops[:0], b.Ops...)
		r.own.first = append(r.own.first[:0], b.First...)
		r.own.dependents = append(r.own.dependents[:0], b.Dependents...)
		r.ops, r.first, r.dependents = r.own.ops, r.own.first, r.own.dependents
	}
	r.open = len(r.ops)
	r.finish = 0
	if g.recorder != nil {
		g.recorder.block(rank, at, b)
	}
	if len(r.dependents) == 0 {
		r.state = r.state[:0]
		for i := range r.ops {
			g.ready = append(g.ready, readyOp{rank, int32(i), ready})
		}
		return
	}
	if cap(r.state) < len(r.ops) {
		r.state = make([]opState, len(r.ops))
	} else {
		r.state = r.state[:len(r.ops)]
	}
	for i := range r.state {
		r.state[i] = opState{ready: ready}
	}
	for _, d := range r.dependents {
		r.state[d.Index()].missing++
	}
	for i := range r.state {
		if r.state[i].missing == 0 {
			g.ready = append(g.ready, readyOp{rank, int32(i), ready})
		}
	}
}

// insertReady inserts the operations that the event under way has made ready (rules R3, R10).
func (g *general) insertReady() {
	gen := uint32(0)
	if g.nowBirth == g.now {
		gen = g.nowGen + 1
	}
	for _, q := range g.ready {
		r := &g.rank[q.rank]
		op := &r.ops[q.index]
		i := g.newNode()
		n := &g.nodes[i]
		*n = node{
			time:  max(q.time, g.nexto[int(q.rank)*g.cpus+int(op.CPU)]),
			birth: g.now,
			who:   whoKey(gen, kindLocal, q.rank),
			what:  uint64(op.Kind)<<32 | uint64(uint32(q.index)),
			cpu:   op.CPU,
			nic:   op.NIC,
		}
		if g.recorder != nil {
			g.recorder.inserted(q.rank, q.index, op.CPU)
		}
		g.insert(g.host(q.rank), i)
	}
	g.ready = g.ready[:0]
}

// startOp notifies the operations that wait for the start of operation index of a rank.
func (g *general) startOp(rank, index int32, at int64) {
	r := &g.rank[rank]
	r.started++
	if len(r.dependents) == 0 {
		return
	}
	for _, d := range r.dependents[r.first[index]:r.first[index+1]] {
		if d.OnStart() {
			g.satisfy(r, rank, d, at)
		}
	}
}

// finishOp notifies the operations that wait for the finish of operation index of a rank, and goes on
// to the next block if it was the last one.
func (g *general) finishOp(rank, index int32, at int64) {
	r := &g.rank[rank]
	r.finish = max(r.finish, at)
	if g.recorder != nil {
		g.recorder.finished(rank, index, at)
	}
	if len(r.dependents) > 0 {
		for _, d := range r.dependents[r.first[index]:r.first[index+1]] {
			if !d.OnStart() {
				g.satisfy(r, rank, d, at)
			}
		}
	}
	r.open--
	if r.open == 0 {
		g.nextBlock(rank, r.finish)
	}
}

func (g *general) satisfy(r *rankState, rank int32, d schedule.Dependent, at int64) {
	s := &r.state[d.Index()]
	s.ready = max(s.ready, at)
	if g.recorder != nil {
		g.recorder.satisfied(rank, int32(d.Index()), d.OnStart())
	}
	s.missing--
	if s.missing == 0 {
		g.ready = append(g.ready, readyOp{rank, int32(d.Index()), s.ready})
	}
}
