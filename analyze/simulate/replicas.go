package simulate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"slackline/internal/parallel"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// ErrEnough is what the noise of a replica is answered with when the replica need not be run.
var ErrEnough = errors.New("no more replicas are needed")

// Replicas runs a program count times, each time with noise of its own: a replica equals the run
// with that noise, whichever thread takes it. Replicas run side by side, one on each thread, in
// memory that is used again.
//
// inject makes the noise of a replica; it is called from several threads. done takes the results,
// one at a time but in any order; the lists of a result are valid only during the call. The first
// error ends the run, but ErrEnough only the thread that gets it; an interrupt ends the run when the
// replicas under way are broken off.
func Replicas(ctx context.Context, p schedule.Program, m *machine.Machine, o Options, count int,
	inject func(replica int) (*noise.Injection, error), done func(replica int, r *Result)) error {
	if o.Model != "" && o.Model != LogGOPS {
		return fmt.Errorf("replicas differ by their noise, which is not part of the model %s; use %s", o.Model, LogGOPS)
	}
	o.Noise = nil
	first, err := newRun(p, m, o)
	if err != nil {
		return err
	}
	var oneWay *tree
	if count >= treeFrom && !o.Breakdown && !o.records() {
		oneWay = newTree(first.problem)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		next atomic.Int64
		lock sync.Mutex
		wait parallel.Group
	)
	for range min(first.threads, count) {
		wait.Go(func() {
			r := replicator{run: *first, tree: oneWay}
			r.threads, r.memory = 1, &leanMemory{}
			for ctx.Err() == nil && !wait.Failed() {
				i := int(next.Add(1)) - 1
				if i >= count {
					return
				}
				result, err := r.replica(ctx, i, inject)
				if errors.Is(err, ErrEnough) {
					return
				}
				if err != nil {
					cancel(err)
					return
				}
				lock.Lock()
				done(i, result)
				lock.Unlock()
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// treeFrom is the number of replicas from which it pays to look for a tree.
const treeFrom = 4

// replicator runs replicas on one thread.
type replicator struct {
	run
	tree       *tree // nil: the program is none
	treeMemory treeMemory
}

// replica runs one replica.
func (r *replicator) replica(ctx context.Context, i int, inject func(replica int) (*noise.Injection, error)) (*Result, error) {
	in, err := inject(i)
	if err != nil {
		return nil, err
	}
	if err := r.setNoise(in); err != nil {
		return nil, err
	}
	if r.tree != nil {
		return r.checked(r.tree.evaluate(r.noise, &r.treeMemory))
	}
	return r.checked(r.choose(ctx, engineAuto))
}

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
