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
func (r *run) runLean(ctx context.Context, large bool) (*Result, error) {
	if !large {
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
		p.inOrder = false // releases are between the messages
	}
	link, err := r.open(ctx, threads)
	if err != nil {
		return nil, false, err
	}
	shards := newLeanShards(&p, threads, link, breakdown, r.memory)
	if r.memory != nil {
		defer r.memory.keep(shards[0])
	}
	cores := make([]windowCore, len(shards))
	for i, s := range shards {
		cores[i] = s
	}
	if withLarge {
		shards[0].large = newRendezvous(p.hosts)
	}
	if withLarge && link != nil {
		err = runLargeWindows(shards[0], link, r.tick())
	} else {
		err = r.runWindows(ctx, cores, link)
	}
	if err != nil {
		return nil, false, err
	}
	return r.leanResult(ctx, shards, link, breakdown)
}

// leanResult makes a result of what the lean core has left, or reports that it had to give up
// because of a large message.
func (r *run) leanResult(ctx context.Context, shards []*lean, link *link, breakdown []breakdownSum) (_ *Result, large bool, _ error) {
	result := &Result{Engine: "window", Threads: len(shards)}
	var end outcome
	unfinished := 0 // a host may have come to its end on another thread than that of its start
	for _, s := range shards {
		end.set(endLarge, s.sawLarge)
		end.set(endUnfit, s.unfit)
		end.set(endOverflow, s.overflow)
		unfinished += s.running + s.left
		result.add(&s.stats)
	}
	end.set(endUnfinished, unfinished > 0)
	if err := r.agree(&end, link); err != nil {
		return nil, false, err
	}
	switch {
	case end.has(endUnfit):
		return nil, false, errNotApplicable
	case end.has(endLarge):
		return nil, true, nil
	case end.has(endOverflow):
		return nil, false, ErrOverflow
	case end.has(endUnfinished):
		// The program cannot finish. The general core comes to the same end and reports why.
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
	return result, false, result.gather(r, link)
}

// outcome is how a run of an engine has ended on this process or, after agree, on any.
type outcome uint8

const (
	endLarge      outcome = 1 << iota // a message was larger than S
	endUnfit                          // the program has something that the core does not support
	endOverflow                       // a time does not fit
	endUnfinished                     // a rank has not come to its end, or a message was left over
	endUnknown                        // a collective could not be expanded
)

func (o *outcome) set(bit outcome, is bool) {
	if is {
		*o |= bit
	}
}

func (o outcome) has(bit outcome) bool { return o&bit != 0 }

// agree makes the outcome the same on all processes. It returns the error of a collective that one
// of them could not expand.
func (r *run) agree(o *outcome, l *link) error {
	if l == nil {
		return nil
	}
	failed := r.expansion.Err()
	o.set(endUnknown, failed != nil)
	all, err := l.agree(uint8(*o))
	if err != nil {
		return err
	}
	*o = outcome(all)
	if o.has(endUnknown) {
		return l.firstError(failed)
	}
	return nil
}
