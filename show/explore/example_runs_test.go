package explore

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// simulated is a run with messages, collectives and waits.
func simulated(tb testing.TB, name string, p pattern.Params) *timeline.Timeline {
	tb.Helper()
	program, err := pattern.New(name, p)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := machine.Named("chic")
	if err != nil {
		tb.Fatal(err)
	}
	result, err := simulate.Run(context.Background(), program, m, simulate.Options{Calls: true})
	if err != nil {
		tb.Fatal(err)
	}
	return result.Calls
}

// halo is a halo exchange of ranks with different amounts of work.
func halo(tb testing.TB, ranks, iterations int) *timeline.Timeline {
	tb.Helper()
	return simulated(tb, "halo2d", pattern.Params{Ranks: ranks, Iterations: iterations, Compute: 100 * unit.Microsecond, Jitter: 0.4, Seed: 3})
}

// viewOf prepares a run for tests, analyzed if wanted.
func viewOf(tb testing.TB, tl *timeline.Timeline, analyzed bool) *view {
	tb.Helper()
	ctx := context.Background()
	v, err := newView(ctx, ctx, &Opened{Timeline: tl}, 2)
	if err != nil {
		tb.Fatal(err)
	}
	if analyzed {
		if _, err := v.analyzed(ctx); err != nil {
			tb.Fatal(err)
		}
	}
	return v
}

// drawCalls draws a run of calls inside of each other: some take no time, some locations have none, some regions
// occur on several paths, and some times are without a CPU.
func drawCalls(t *rapid.T) *timeline.Timeline {
	ranks := rapid.IntRange(1, 7).Draw(t, "ranks")
	b := timeline.NewBuilder(ranks)
	var regions []timeline.RegionID
	for _, name := range []string{"main", "solve", "MPI_Send", "MPI_Allreduce", "MPI_Init", "helper"} {
		regions = append(regions, b.Region(timeline.RegionNamed(name)))
	}
	step := rapid.SampledFrom([]int64{1, 3, 40, 1000}).Draw(t, "step")
	for rank := range ranks {
		for thread := range rapid.IntRange(1, 2).Draw(t, "threads") {
			drawLocation(t, b.Location(rank, thread, fmt.Sprintf("rank %d", rank), ""), regions, step)
		}
	}
	return b.Finish(1)
}

func drawLocation(t *rapid.T, l *timeline.LocationBuilder, regions []timeline.RegionID, step int64) {
	at := unit.Duration(rapid.Int64Range(0, 5*step).Draw(t, "begin"))
	l.Event(at)
	for range rapid.IntRange(0, 40).Draw(t, "events") {
		at += unit.Duration(rapid.Int64Range(0, step).Draw(t, "time"))
		if l.Depth() > 0 && rapid.Bool().Draw(t, "leave") {
			l.Leave(at)
		} else if l.Depth() < 6 {
			l.Enter(at, rapid.SampledFrom(regions).Draw(t, "region"))
		}
		if rapid.IntRange(0, 3).Draw(t, "CPU") == 0 {
			l.NoCPU(at, unit.Duration(rapid.Int64Range(0, 2*step).Draw(t, "without")))
		}
	}
	for l.Depth() > 0 {
		at += unit.Duration(rapid.Int64Range(0, step).Draw(t, "time"))
		l.Leave(at)
	}
	l.Event(at)
}
