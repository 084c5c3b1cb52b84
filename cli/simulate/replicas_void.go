package simulate

import (
	"context"

	"github.com/spf13/cobra"

	"slackline/analyze/simulate"
	"slackline/cli/env"
	"slackline/model/collective"
	"slackline/model/schedule"
)

// A series shows nothing of its single runs, so flags without influence are found
// beforehand: by a look at the operations, if there are not too many, and by runs
// without noise, if they take no time.
const (
	maxScanned = 1 << 24 // operations, a second or so
	maxProbed  = 1 << 18
)

// warnOfVoid warns of flags that were given but have no influence on the series.
func (r *seriesRun) warnOfVoid(a *env.Env, c *cobra.Command) error {
	threads := c.Flags().Changed("threads") && r.threads > 1 && !r.sideBySide()
	if !r.Machine.Eager.Given && !threads {
		return nil
	}
	larger, ops, err := r.scan(c.Context())
	if err != nil {
		return err
	}
	if r.Machine.Eager.Given && !larger && ops <= maxScanned {
		a.Warn("-S has no influence: no message is larger, apart from buffered ones")
	}
	if !threads || ops > maxProbed {
		return nil
	}
	engine, err := r.soleThread(c.Context())
	if err == nil && engine != "" {
		a.Warn("--threads has no influence: the engine %s runs this on one thread", engine)
	}
	return err
}

// sideBySide reports whether replicas keep several threads busy.
func (r *seriesRun) sideBySide() bool { return r.series.Replicas > 1 && !r.series.Noise.IsZero() }

// scan looks through the operations of all numbers of ranks. larger: one sends more, not buffered,
// than S. It stops when it has seen too many.
func (r *seriesRun) scan(ctx context.Context) (larger bool, ops int, err error) {
	limit := int64(r.Machine.Eager.Value)
	for _, ranks := range r.series.Counts {
		program, err := r.series.Program(ranks)
		if err != nil {
			return false, 0, err
		}
		stream := collective.Expand(program, r.series.Options.Mapping, 0)
		var b schedule.Block
		for rank := range ranks {
			if err := ctx.Err(); err != nil {
				return false, 0, err
			}
			for at, ok := stream.Next(rank, schedule.Cursor{}, &b); ok; at, ok = stream.Next(rank, at, &b) {
				for i := range b.Ops {
					if r.Machine.Eager.Given && b.Ops[i].Kind == schedule.Send && !b.Ops[i].IsBuffered() && b.Ops[i].Size > limit {
						larger = true
					}
				}
				if ops += len(b.Ops) + 1; ops > maxScanned {
					return larger, ops, nil
				}
			}
		}
		if err := stream.Err(); err != nil {
			return false, 0, err
		}
	}
	return larger, ops, nil
}

// soleThread returns the engine that runs the series on one thread; empty: there are
// more threads for a run, or ranks for only one.
func (r *seriesRun) soleThread(ctx context.Context) (engine string, err error) {
	for _, ranks := range r.series.Counts {
		program, err := r.series.Program(ranks)
		if err != nil {
			return "", err
		}
		options := r.series.Options
		options.Progress = nil
		result, err := simulate.Run(ctx, program, r.series.Machine, options)
		if err != nil {
			return "", err
		}
		switch {
		case result.Threads > 1:
			return "", nil
		case ranks > 1:
			engine = result.Engine
		}
	}
	return engine, nil
}
