package input

import (
	"context"
	"fmt"
	"slices"

	"slackline/analyze/replay"
)

// openReplay reads a recorded run and turns it into a program.
func openReplay(ctx context.Context, word string, o Options) (*Input, error) {
	t, err := OpenTrace(ctx, word, TraceOptions{Hash: o.Hash, Strict: o.Strict, Clock: o.Clock, Partial: o.Partial})
	if err != nil {
		return nil, err
	}
	program, err := replay.New(t.Timeline, o.Replay)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", word, err)
	}
	in := &Input{Name: word, Format: t.Format, Program: program, Replay: program, Record: t.Record}
	if o.KeepRun {
		in.Recorded = t.Timeline
	}
	in.Warnings = slices.Concat(t.Warnings, t.Timeline.Problems.Notes, program.Report().Circumstances(), program.Report().Warnings())
	return in, nil
}
