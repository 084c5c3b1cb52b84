package cli

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/input"
	"slackline/internal/provenance"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// runHelp says what verbs that analyse runs take.
const runHelp = "a trace: an OTF2 anchor file (traces.otf2), a directory of slackline record, or liballprof's files"

// runOptions are the flags of verbs that analyse a run.
type runOptions struct {
	begin, end quantity[unit.Duration]
	ranks      rankList
	strict     bool
	threads    int
	grid       gridFlag
}

func newRunOptions() runOptions { return runOptions{begin: durationFlag(), end: durationFlag()} }

func (o *runOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(&o.begin, "begin", "leave out what happens before this `time` since the start of the run")
	fs.Var(&o.end, "end", "leave out what happens after this `time` since the start of the run")
	fs.Var(&o.ranks, "only-ranks", "read these `ranks` only, e.g. 0..15,32; what others have to do with them is left out")
	fs.BoolVar(&o.strict, "strict", false, "refuse a trace of which something is missing or damaged")
	fs.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "`number` of threads; the result does not depend on it")
}

// run is what happened, and where that is written.
type run struct {
	name     string
	timeline *timeline.Timeline
	records  []provenance.Input
}

// openRun reads the run that a word names and tells what is wrong with it.
func (o *runOptions) openRun(a *app, c *cobra.Command, word string, hash bool) (*run, error) {
	in, err := input.OpenTrace(c.Context(), word, input.TraceOptions{
		Begin: o.begin.value, End: o.end.value, Ranks: o.ranks.list, Strict: o.strict, Threads: o.threads, Hash: hash,
	})
	if err != nil {
		return nil, err
	}
	for _, w := range in.Warnings {
		a.warn("%s", w)
	}
	a.warnOfProblems(in.Timeline)
	return &run{name: word, timeline: in.Timeline, records: []provenance.Input{in.Record}}, nil
}

// applyGrid gives the run the process grid of the flag, if that was given.
func (o *runOptions) applyGrid(tl *timeline.Timeline) error {
	if len(o.grid.dims) == 0 {
		return nil
	}
	size := 1
	for _, d := range o.grid.dims {
		size *= d
	}
	if size != tl.Ranks {
		return usagef("--grid: %s has %s, but the run has %s", o.grid.String(), plural(size, "place"), plural(tl.Ranks, "rank"))
	}
	g := &timeline.Grid{Dims: o.grid.dims, Periodic: make([]bool, len(o.grid.dims)), Coords: make([][]int, size)}
	for rank := range g.Coords {
		at := make([]int, len(g.Dims))
		rest := rank
		for i := len(at) - 1; i >= 0; i-- {
			at[i] = rest % g.Dims[i]
			rest /= g.Dims[i]
		}
		g.Coords[rank] = at
	}
	tl.Grid = g
	return nil
}

// warnOfProblems tells what does not fit together in a run.
func (a *app) warnOfProblems(tl *timeline.Timeline) {
	p := &tl.Problems
	if n := p.UnmatchedSends; n > 0 {
		a.warn("%s without receive%s; left out", plural(n, "send"), firstOf(p.Sends))
	}
	if n := p.UnmatchedReceives; n > 0 {
		a.warn("%s without send%s; left out", plural(n, "receive"), firstOf(p.Receives))
	}
	if n := p.IncompleteCollectives; n > 0 {
		a.warn("%s that not every member has, left out; %s", plural(n, "collective"), strings.Join(p.Collectives[:min(1, len(p.Collectives))], ""))
	}
	if n := p.PendingRequests; n > 0 {
		a.warn("%s never completed", plural(n, "request"))
	}
	if n := p.Violations; n > 0 {
		a.warn("%s received before it was sent, by up to %s: the clocks are wrong; try --clock to correct them", plural(n, "message"), p.WorstViolation.Short())
	}
	if n := p.Unbalanced; n > 0 {
		a.warn("%s without its other half", plural(n, "enter or leave"))
	}
	if n := len(p.MissingRanks); n > 0 {
		a.warn("%s missing, the first is rank %d", plural(n, "rank"), p.MissingRanks[0])
	}
	for _, note := range p.Notes {
		a.warn("%s", note)
	}
}

// firstOf names the first end of a message that has no other end.
func firstOf(list []timeline.Unmatched) string {
	if len(list) == 0 {
		return ""
	}
	u := list[0]
	return fmt.Sprintf(", the first is %s of rank %d with rank %d, tag %d, at %s", u.Call, u.Rank, u.Peer, u.Tag, u.Time.Short())
}

// gridFlag is a flag for the sizes of a process grid: 16x16.
type gridFlag struct{ dims []int }

// Set implements pflag.Value.
func (g *gridFlag) Set(s string) error {
	var dims []int
	for part := range strings.SplitSeq(s, "x") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > 1<<24 {
			return fmt.Errorf("%q is not a grid such as 16x16 or 8x8x4", s)
		}
		dims = append(dims, n)
	}
	g.dims = dims
	return nil
}

func (g *gridFlag) String() string {
	var parts []string
	for _, d := range g.dims {
		parts = append(parts, strconv.Itoa(d))
	}
	return strings.Join(parts, "x")
}

// Type implements pflag.Value.
func (g *gridFlag) Type() string { return "AxB" }
