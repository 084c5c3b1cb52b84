package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/input"
	"slackline/internal/provenance"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
)

// runHelp says what verbs that analyse runs take.
const runHelp = "a recorded run: an OTF2 anchor file (traces.otf2), a directory of slackline record, liballprof's files, a trace as text; " +
	"or what is simulated: a pattern or a schedule file, with a machine"

// runOptions are the flags of verbs that analyse a run.
type runOptions struct {
	begin, end quantity[unit.Duration]
	ranks      rankList
	strict     bool
	clock      choice
	threads    int
	future     futureOptions
}

func newRunOptions() runOptions {
	return runOptions{
		begin: durationFlag(), end: durationFlag(), future: newFutureOptions(),
		clock: newChoice(string(trace.ClockAuto), string(trace.ClockAuto), string(trace.ClockOffsets), string(trace.ClockControl), string(trace.ClockNone)),
	}
}

// addTo gives a command the flags.
func (o *runOptions) addTo(a *app, c *cobra.Command) {
	a.addGroup(c, "Run", o.addFlags)
	o.future.addTo(a, c)
	o.future.program.gridOfRun = true
	complete(c, "clock", o.clock.allowed)
	c.ValidArgsFunction = completeInput
}

func (o *runOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(&o.begin, "begin", "leave out what happens before this `time` since the start of the run")
	fs.Var(&o.end, "end", "leave out what happens after this `time` since the start of the run")
	fs.Var(&o.ranks, "only-ranks", "read these `ranks` only, e.g. 0..15,32; what others have to do with them is left out")
	fs.BoolVar(&o.strict, "strict", false, "refuse a trace of which something is missing or damaged")
	fs.Var(&o.clock, "clock", "how the clocks of the ranks are brought together: by what was measured (offsets), then without what is still impossible (clc), not at all (none); "+
		"auto: clc for runs of slackline record, offsets for others")
	fs.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "`number` of threads; the result does not depend on it")
}

// run is what happened, and where that is written.
type run struct {
	name     string
	timeline *timeline.Timeline
	records  []provenance.Input
	machine  string // of a simulated run
	change   *futureChange
	program  schedule.Program // that was simulated; nil: none
}

// where says on which machine a run was simulated, for titles.
func (r *run) where() string {
	if r.machine == "" {
		return ""
	}
	return " on " + r.machine
}

// headline says in a line what a run is, how long it took, and how much of that nobody can blame on it.
func (r *run) headline() string {
	tl := r.timeline
	text := fmt.Sprintf("%s%s: %s, run time %s", r.name, r.where(), sizeOf(tl), (tl.End - tl.Start).Short())
	if part := recordedPart(tl); part != "" {
		text += ", of which " + part
	}
	if share := tl.LackShare(); share > 0 {
		text += fmt.Sprintf(", without a CPU for %.1f %% of it", 100*share)
	}
	return text
}

// openRun reads the run that a word names, or simulates it, and tells what is wrong with it.
func (o *runOptions) openRun(a *app, c *cobra.Command, word string, hash bool) (*run, error) {
	open := o.read
	if simulated, err := o.simulated(c, word); err != nil {
		return nil, err
	} else if simulated {
		if err := a.firstOnly("the analysis of a simulated run"); err != nil {
			return nil, err
		}
		open = o.simulate
	}
	r, err := open(a, c, word, hash)
	if err != nil {
		return nil, err
	}
	return r, o.applyGrid(r.timeline)
}

// simulated reports whether a run is simulated: it is not recorded, or flags describe a machine.
func (o *runOptions) simulated(c *cobra.Command, word string) (bool, error) {
	given := o.future.machine.override()
	machine := !given.IsZero() || c.Flags().Changed("machine")
	_, err := os.Stat(word)
	switch exists := err == nil || word == input.Stdin; {
	case machine:
		return true, nil
	case input.IsTrace(word), !exists && !pattern.Has(word):
		return false, nil
	case o.future.machine.name == "": // nor do the settings name one
		if err := input.CheckRun(word); err != nil {
			return false, err
		}
		return false, usagef("%s is no recorded run; to simulate it, say on which machine: --machine NAME (see 'slackline machine list')", word)
	}
	return true, nil
}

// read reads a recorded run.
func (o *runOptions) read(a *app, c *cobra.Command, word string, hash bool) (*run, error) {
	options := input.TraceOptions{
		Begin: o.begin.value, End: o.end.value, Ranks: o.ranks.list, Strict: o.strict, Partial: o.future.program.partial, Clock: trace.Clock(o.clock.value), Threads: o.threads, Hash: hash, Group: a.group(),
	}
	in, err := input.OpenTrace(c.Context(), word, options)
	if errors.Is(err, trace.ErrOneReader) {
		if err := a.firstOnly("reading a trace in this format"); err != nil {
			return nil, err
		}
		options.Group = nil
		in, err = input.OpenTrace(c.Context(), word, options)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range in.Warnings {
		a.warn("%s", w)
	}
	a.noteOfClocks(in.Clocks)
	a.warnOfProblems(in.Timeline)
	if len(o.future.changes) > 0 {
		return nil, usagef("--balance and --what-if simulate the run again; say on which machine: --machine NAME (see 'slackline machine list')")
	}
	for _, name := range []string{"noise", "noise-file", "ranks", "mapping", "scale-compute", "denoise"} {
		if c.Flags().Changed(name) {
			a.warn("--%s has no influence on a recorded run; with --machine it is simulated", name)
		}
	}
	return &run{name: word, timeline: in.Timeline, records: []provenance.Input{in.Record}}, nil
}

// simulate simulates a run.
func (o *runOptions) simulate(a *app, c *cobra.Command, word string, hash bool) (*run, error) {
	f, err := o.future.run(a, c, word, hash)
	if err != nil {
		return nil, err
	}
	if f.timeline == nil {
		return nil, fmt.Errorf("%s: the simulation gave no timeline", word)
	}
	tl := f.timeline
	if o.begin.given || o.end.given {
		end := tl.End
		if o.end.given {
			end = min(end, tl.Start+o.end.value)
		}
		tl = tl.Window(tl.Start+o.begin.value, end, o.threads)
	}
	if len(o.ranks.list) > 0 {
		a.warn("--only-ranks has no influence on a simulated run")
	}
	return &run{name: word, timeline: tl, records: f.records, machine: f.machine, change: f.change, program: f.input.Program}, nil
}

// applyGrid gives the run the process grid of the flag, if that was given.
func (o *runOptions) applyGrid(tl *timeline.Timeline) error {
	dims := o.future.program.grid
	if len(dims) == 0 {
		return nil
	}
	size := 1
	for _, d := range dims {
		size *= d
	}
	if size != tl.Ranks {
		return usagef("--grid: %s has %s, but the run has %s", o.future.program.grid.String(), plural(size, "place"), plural(tl.Ranks, "rank"))
	}
	g := &timeline.Grid{Dims: dims, Periodic: make([]bool, len(dims)), Coords: make([][]int, size)}
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
	a.noteOfCut(tl)
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

// noteOfCut says how much of a run was recorded, if not all.
func (a *app) noteOfCut(tl *timeline.Timeline) {
	p := &tl.Problems
	if off, all := tl.Unrecorded(), (tl.End-tl.Start)*unit.Duration(len(tl.Locations)); off > 0 {
		a.note("recording was off for %s of the time of all threads; that time counts in no efficiency, wait or cause", percent(off, all))
	}
	if n := p.CutMessages; n > 0 {
		a.note("%s recorded at one end only, left out: recording was off at the other", plural(n, "message"))
	}
	if n := p.CutCollectives; n > 0 {
		a.note("%s not recorded by all members, left out", plural(n, "collective"))
	}
}

// recordedPart says how much of a run was recorded; empty: all of it.
func recordedPart(tl *timeline.Timeline) string {
	off := tl.Unrecorded()
	if off <= 0 {
		return ""
	}
	all := (tl.End - tl.Start) * unit.Duration(len(tl.Locations))
	return fmt.Sprintf("%s recorded, %s of the time of all threads", ((all - off) / unit.Duration(len(tl.Locations))).Short(), percent(all-off, all))
}

// firstOf names the first end of a message that has no other end.
func firstOf(list []timeline.Unmatched) string {
	if len(list) == 0 {
		return ""
	}
	u := list[0]
	return fmt.Sprintf(", the first is %s of rank %d with rank %d, tag %d, at %s", u.Call, u.Rank, u.Peer, u.Tag, u.Time.Short())
}

// noteOfClocks says what was impossible in the times of a run and was removed.
func (a *app) noteOfClocks(r *trace.ClockReport) {
	if n := r.Before.Messages + r.Before.Groups; n > 0 {
		a.note("%s arrived before they were sent, by up to %s: the controlled logical clock moved %s by up to %s",
			plural(n, "message"), r.Before.Worst.Short(), plural(r.Moved, "moment"), r.Furthest.Short())
	}
	if len(r.Unknown) > 0 {
		a.warn("nobody compared the clocks of %s with that of rank 0: their times may be wrong", plural(len(r.Unknown), "rank"))
	}
}
