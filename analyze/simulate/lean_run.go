package simulate

import (
	"context"

	"slackline/model/unit"
)

// leanFits reports whether the lean core can run the problem. For programs that are made on demand
// it finds out itself whether their blocks are small enough.
func (r *run) leanFits() bool {
	s := r.shape
	return s.CPUs == 1 && s.NICs == 1 && !s.Wildcards && !r.shared && !r.options.records() &&
		!(s.Graphs && r.largeGraphs())
}

// runLean runs the lean core in the window engine: first without large messages, on all threads;
// if there are any, again with them.
func (r *run) runLean(ctx context.Context) (*Result, error) {
	if !r.largeMessages() {
		result, large, err := r.tryLean(ctx, r.threads, false)
		if !large {
			return result, err
		}
	}
	result, _, err := r.tryLean(ctx, 1, true)
	return result, err
}

// tryLean reports whether it had to give up because of a large message.
func (r *run) tryLean(ctx context.Context, threads int, withLarge bool) (_ *Result, large bool, _ error) {
	var breakdown []breakdownSum
	if r.options.Breakdown {
		breakdown = make([]breakdownSum, r.ranks)
	}
	p := *r.problem
	if withLarge {
		p.inOrder = false // releases stand between the messages
	}
	shards := newLeanShards(&p, threads, breakdown, r.memory)
	if r.memory != nil {
		defer r.memory.keep(shards[0])
	}
	if withLarge {
		shards[0].large = newRendezvous(p.hosts)
	}
	cores := make([]windowCore, len(shards))
	for i, s := range shards {
		cores[i] = s
	}
	if err := runWindows(ctx, cores, r.tick()); err != nil {
		return nil, false, err
	}
	result := &Result{Engine: "window", Threads: len(shards)}
	running, left, overflow, unfit := 0, 0, false, false
	for _, s := range shards {
		large = large || s.sawLarge
		unfit = unfit || s.unfit
		overflow = overflow || s.overflow
		running += s.running
		left += s.left
		result.add(&s.stats)
	}
	switch {
	case unfit:
		return nil, false, errNotApplicable
	case large:
		return nil, true, nil
	case overflow:
		return nil, false, ErrOverflow
	case running > 0 || left > 0:
		// The program cannot finish. The general core comes to the same end and can say why.
		result, err := r.runEvent(ctx)
		return result, false, err
	}
	if r.memory != nil {
		r.memory.finish = zeroed(r.memory.finish, r.ranks)
		result.Finish = r.memory.finish
	} else {
		result.Finish = make([]unit.Duration, r.ranks)
	}
	for i := range shards[0].hosts {
		result.Finish[i] = unit.Duration(shards[0].hosts[i].nexto)
		result.Makespan = max(result.Makespan, result.Finish[i])
	}
	if breakdown != nil {
		result.Ranks = make([]Breakdown, r.ranks)
		for i := range breakdown {
			result.Ranks[i] = breakdown[i].of(int64(result.Finish[i]))
		}
	}
	return result, false, nil
}
