package simulate

import (
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// leanMemory is the memory of a run of the lean core on one thread, kept for the next run. The zero
// value is ready to use.
type leanMemory struct {
	hosts      []leanHost
	inbox      [2][]int32
	later      []int32
	hints      []int32
	positions  []int64
	earlyCount []int32
	msgs       []leanMessage
	ops        []leanOp
	graphs     []leanGraph
	links      []uint64
	batches    []readyBatch
	finish     []unit.Duration
}

// zeroed returns a slice of n zeros, in the memory of old if it is large enough.
func zeroed[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}

// newLeanShards cuts the hosts into partitions, one for each thread. With memory there is only one.
func newLeanShards(p *problem, threads int, link *link, breakdown []breakdownSum, memory *leanMemory) []*lean {
	if memory == nil {
		memory = &leanMemory{}
	} else {
		threads = 1
	}
	shares := dealHosts(p.hosts, threads)
	threads = shares.threads
	s := &leanState{
		problem:    p,
		hosts:      zeroed(memory.hosts, p.hosts),
		inbox:      [2][]int32{zeroed(memory.inbox[0], p.hosts), zeroed(memory.inbox[1], p.hosts)},
		later:      zeroed(memory.later, p.hosts),
		earlyCount: zeroed(memory.earlyCount, p.hosts),
	}
	if p.noise != nil {
		s.hints = zeroed(memory.hints, p.hosts)
		if p.noise.Clock() == noise.CPUClock {
			s.positions = zeroed(memory.positions, p.hosts)
		}
	}
	shards := make([]*lean, threads)
	n := (p.hosts + threads - 1) / threads
	for t := range shards {
		l := &lean{
			leanState: s,
			firstRank: p.firstRank,
			calendar:  newCalendar(p.hosts, p.window),
			thread:    t,
			deal:      shares,
			shards:    shards,
			breakdown: breakdown,
		}
		if memory.msgs != nil {
			l.msgs, l.ops = memory.msgs[:1], memory.ops[:0]
			// What these hold is written anew for every block.
			l.graphs, l.links, l.batches = memory.graphs[:0], memory.links[:0], memory.batches[:0]
		} else {
			l.msgs, l.ops = make([]leanMessage, 1, n+n/8+16), make([]leanOp, 0, 2*n)
		}
		l.costs.p = p
		l.ports.open(link)
		l.exchanges, _ = p.stream.(schedule.Exchanger)
		l.lastLoad = ^uint64(0)
		l.mail.open(threads)
		for i := range l.freeSlot {
			l.freeSlot[i] = noSlot
		}
		shards[t] = l
	}
	return shards
}

// keep takes the memory of a finished run back.
func (m *leanMemory) keep(l *lean) {
	m.hosts, m.inbox, m.later, m.earlyCount = l.hosts, l.inbox, l.later, l.earlyCount
	m.msgs, m.ops = l.msgs, l.ops
	m.graphs, m.links, m.batches = l.graphs, l.links, l.batches
	if l.hints != nil {
		m.hints = l.hints
	}
	if l.positions != nil {
		m.positions = l.positions
	}
}
