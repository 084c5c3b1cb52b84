package whatif

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync"

	"slackline/analyze/simulate"
	"slackline/internal/cluster"
	"slackline/model/noise"
	"slackline/model/unit"
)

// A series among several processes: first all runs without noise, each a task, then the replicas of
// one process count after the other, each replica a task. What is known is known to process 0, which
// reports to the others what is missing.

// quietRun is the outcome of a run without noise.
type quietRun struct {
	Makespan unit.Duration
	Ops      int64
	Messages int64
	Warnings []string
}

// quietRuns does the missing runs without noise.
func (r *seriesRun) quietRuns(ctx context.Context) error {
	var wanted []int // places of process counts, the largest first: the last tasks should be short
	for i, ranks := range r.Counts {
		if kept := r.known.at(ranks); kept.Ops == 0 && slices.Index(r.Counts, ranks) == i {
			wanted = append(wanted, i)
		}
	}
	slices.SortFunc(wanted, func(i, j int) int { return cmp.Compare(r.Counts[j], r.Counts[i]) })
	if err := cluster.BroadcastValue(ctx, r.Group, &wanted); err != nil {
		return err
	}
	r.warnings = make([][]string, len(r.Counts))
	return cluster.Tasks(ctx, r.Group, len(wanted), 1, func(ctx context.Context, task int) ([]byte, error) {
		program, err := r.Program(r.Counts[wanted[task]])
		if err != nil {
			return nil, err
		}
		result, err := simulate.Run(ctx, program, r.Machine, r.quiet())
		if err != nil {
			return nil, err
		}
		return cluster.Encode(&quietRun{result.Makespan, max(result.Ops, 1), result.Messages, result.Warnings})
	}, func(task int, data []byte) error {
		var done quietRun
		if err := cluster.Decode(data, &done); err != nil {
			return err
		}
		i := wanted[task]
		kept := r.known.at(r.Counts[i])
		kept.Noiseless, kept.Ops = done.Makespan, done.Ops
		r.warnings[i] = done.Warnings
		r.messages += done.Messages
		r.work.begin(i, kept.Ops, r.Replicas-len(kept.missing(r.Replicas)))
		r.report(i)
		return nil
	})
}

// sharedPoint does the missing replicas of one process count. It returns what is finished also with
// an error; processes other than 0 return nothing.
func (r *seriesRun) sharedPoint(ctx context.Context, i int) (*Point, error) {
	ranks := r.Counts[i]
	kept := r.known.at(ranks)
	missing, err := r.missingForAll(ctx, kept)
	if err == nil {
		if r.Group.Rank() == 0 {
			r.work.begin(i, kept.Ops, r.Replicas-len(missing))
		}
		err = r.sharedReplicas(ctx, i, missing)
	}
	if r.Group.Rank() != 0 {
		return nil, err
	}
	return &Point{Ranks: ranks, Noiseless: kept.Noiseless, Samples: kept.prefix(r.Replicas), Warnings: r.warnings[i]}, err
}

// missingForAll gives the list of missing replicas to all processes, as runs of numbers.
func (r *seriesRun) missingForAll(ctx context.Context, kept *kept) ([]int, error) {
	type run struct{ From, To int }
	var runs []run
	for _, n := range kept.missing(r.Replicas) {
		if last := len(runs) - 1; last >= 0 && runs[last].To == n {
			runs[last].To++
		} else {
			runs = append(runs, run{n, n + 1})
		}
	}
	if err := cluster.BroadcastValue(ctx, r.Group, &runs); err != nil {
		return nil, err
	}
	var missing []int
	for _, run := range runs {
		for n := run.From; n < run.To; n++ {
			missing = append(missing, n)
		}
	}
	return missing, nil
}

// sharedReplicas does replicas of a process count.
func (r *seriesRun) sharedReplicas(ctx context.Context, i int, missing []int) error {
	ranks := r.Counts[i]
	kept := r.known.at(ranks)
	source, err := r.injectorOf(ranks, missing)
	if err != nil {
		return err
	}
	if source == nil { // all replicas are alike
		for _, replica := range missing {
			kept.set(replica, kept.Noiseless)
		}
		return nil
	}
	program, err := r.Program(ranks)
	if err != nil {
		return err
	}
	done := func(task int, data []byte) error {
		makespan, n := binary.Varint(data)
		messages, m := binary.Varint(data[max(n, 0):])
		if n <= 0 || m <= 0 {
			return errors.New("the result of a replica is not in order")
		}
		kept.set(missing[task], unit.Duration(makespan))
		r.messages += messages
		r.work.finished(i)
		r.report(i)
		return nil
	}
	threads := r.Options.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return cluster.Feed(ctx, r.Group, len(missing), threads, done, func(ctx context.Context, q cluster.Queue) error {
		var taken sync.Map // tasks by number of the call
		var failed error
		err := simulate.Replicas(ctx, program, r.Machine, r.quiet(), len(missing),
			func(n int) (*noise.Injection, error) {
				task, ok := q.Next(ctx)
				if !ok {
					return nil, simulate.ErrEnough
				}
				taken.Store(n, task)
				return source.of(missing[task])
			},
			func(n int, result *simulate.Result) {
				task, _ := taken.LoadAndDelete(n)
				source.giveBack(missing[task.(int)])
				data := binary.AppendVarint(nil, int64(result.Makespan))
				if err := q.Finish(ctx, task.(int), binary.AppendVarint(data, result.Messages)); err != nil && failed == nil {
					failed = err
				}
			})
		return cmp.Or(err, failed)
	})
}

// sharedByAll gives the one point that process 0 has to all processes.
func sharedByAll(ctx context.Context, g cluster.Group, points []Point) (*Point, error) {
	var p Point
	if g.Rank() == 0 {
		p = points[0]
	}
	return &p, cluster.BroadcastValue(ctx, g, &p)
}
