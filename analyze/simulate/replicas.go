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
