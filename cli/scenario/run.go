package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/internal/spill"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
)

// RunHelp says what verbs that analyze runs take.
const RunHelp = "a recorded run: an OTF2 anchor file (traces.otf2), a directory of slackline record, liballprof's files, a trace " +
	"as text; or what is simulated: a pattern or a schedule file, with a machine"

// RunOptions are the flags of verbs that analyze a run.
type RunOptions struct {
	Begin, End flags.Quantity[unit.Duration]
	Whole      bool // with the start and the end of MPI
	Start      StartRule
	Ranks      RankList
	Strict     bool
	Clock      trace.Clock
	Threads    int
	Space      *spill.Space // that the long lists of a recorded run are in; nil: they are on the heap
	Future     Options
}

// StartRule says what becomes of the start and the end of MPI without --whole.
type StartRule int

// The rules.
const (
	LeaveLongStart StartRule = iota // they are left out if they take 1 % of the run or more
	LeaveStart
	KeepStart
)

// AddTo gives a command the flags.
func (o *RunOptions) AddTo(a *env.Env, c *cobra.Command) {
	a.AddGroup(c, "Run", o.AddFlags)
	o.Future.addTo(a, c)
	o.Future.Program.GridOfRun = true
	c.ValidArgsFunction = CompleteInput
}

func (o *RunOptions) AddFlags(fs *pflag.FlagSet) {
	fs.Var(&o.Begin, "begin", "leave out what happens before this `time` since the start of the run")
	fs.Var(&o.End, "end", "leave out what happens after this `time` since the start of the run")
	fs.BoolVar(&o.Whole, "whole", false, "also count the start and the end of MPI: the time before the first rank leaves MPI_Init and after "+
		"the last one enters MPI_Finalize; "+
		"it is left out if it is 1 % of the run or more")
	fs.Var(&o.Ranks, "only-ranks", "read these `ranks` only, e.g. 0..15,32; what others have to do with them is left out")
	fs.BoolVar(&o.Strict, "strict", false, "refuse a trace of which something is missing or damaged")
	flags.AddChoice(fs, &o.Clock, "clock", "how the clocks of the ranks are brought together: by what was measured (offsets), then without "+
		"what is still impossible (clc), not at all (none); auto: clc for runs of slackline record, offsets for others", trace.ClockAuto,
		trace.ClockAuto, trace.ClockOffsets, trace.ClockControl, trace.ClockNone)
	flags.AddThreads(fs, &o.Threads, runtime.GOMAXPROCS(0), "`number` of threads; the result does not depend on it")
}

// Run is what happened, and where that is written.
type Run struct {
	Name     string
	Timeline *timeline.Timeline
	Records  []provenance.Input
	Machine  string // of a simulated run
	Change   *futureChange
	Program  schedule.Program // that was simulated; nil: none
}

// Where says that a run was simulated and, if that is known, on which machine, for titles.
func (r *Run) Where() string {
	switch {
	case r.Machine != "":
		return ", simulated on " + r.Machine
	case r.Timeline.Simulated: // and kept as a trace
		return ", simulated"
	}
	return ""
}

// Size is how many ranks and threads a run has.
func (r *Run) Size() string {
	tl := r.Timeline
	if len(tl.Locations) == tl.Ranks {
		return phrase.Plural(tl.Ranks, "rank")
	}
	return fmt.Sprintf("%s, %s", phrase.Plural(tl.Ranks, "rank"), phrase.Plural(len(tl.Locations), "thread"))
}

// Headline describes a run in a line: what it is, how long it took, how much was recorded and how long it was without a CPU.
func (r *Run) Headline() string {
	tl := r.Timeline
	text := fmt.Sprintf("%s%s: %s, run time %s", r.Name, r.Where(), r.Size(), (tl.End - tl.Start).Short())
	if part := recordedPart(tl); part != "" {
		text += ", of which " + part
	}
	if share := tl.LackShare(); share > 0 {
		text += ", without a CPU for " + phrase.Percent(share, 1) + " of it"
	}
	if tl.LeftOut.Any() {
		text += fmt.Sprintf(", without %s; --whole includes them", tl.LeftOut)
	}
	return text
}

// Check finds flags that contradict each other.
func (o *RunOptions) Check() error {
	if o.End.Given && o.End.Value <= o.Begin.Value {
		return exit.Usagef("--end: give a time after %s, where the part begins", o.Begin.Value.Short())
	}
	return nil
}

// OpenRun reads the run that a word names, or simulates it, and warns of what is wrong with it.
func (o *RunOptions) OpenRun(a *env.Env, c *cobra.Command, word string, hash bool) (*Run, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	open := o.read
	if simulated, err := o.Simulated(c, word); err != nil {
		return nil, err
	} else if simulated {
		if err := a.FirstOnly("the analysis of a simulated run"); err != nil {
			return nil, err
		}
		open = o.simulate
	}
	r, err := open(a, c, word, hash)
	if err != nil {
		return nil, err
	}
	if err := o.CheckPart(r.Timeline, word); err != nil {
		return nil, err
	}
	return r, o.ApplyGrid(r.Timeline)
}

// CheckPart refuses a part of a run that has nothing of what was read.
func (o *RunOptions) CheckPart(tl *timeline.Timeline, word string) error {
	switch {
	case o.Begin.Value > 0 && o.Begin.Value >= tl.End-tl.Origin():
		return exit.Usagef("--begin: %s ends before %s; give an earlier time", word, o.Begin.Value.Short())
	case o.End.Given && o.End.Value <= tl.Before && tl.Before > o.Begin.Value:
		return exit.Usagef("--end: the ranks that are read of %s begin %s after the start of the run; give a later time", word, tl.Before.Short())
	}
	return nil
}

// Simulated reports whether a run is simulated: it is not recorded, or flags describe a machine.
func (o *RunOptions) Simulated(c *cobra.Command, word string) (bool, error) {
	given := o.Future.Machine.Override()
	machine := !given.IsZero() || c.Flags().Changed("machine")
	_, err := os.Stat(word)
	switch exists := err == nil || word == input.Stdin; {
	case machine:
		return true, nil
	case input.IsTrace(word), !exists && !pattern.Has(word):
		return false, nil
	case o.Future.Machine.Name == "": // nor do the settings name one
		if err := input.CheckRun(word); err != nil {
			return false, err
		}
		return false, exit.Usagef("%s", input.NotARun(word))
	}
	return true, nil
}

// read reads a recorded run.
func (o *RunOptions) read(a *env.Env, c *cobra.Command, word string, hash bool) (*Run, error) {
	if _, err := os.Stat(word); err == nil && len(o.Future.changes)+len(o.Future.edits) > 0 {
		return nil, exit.Usagef("--balance, --what-if and --change simulate the run again; give the machine: --machine NAME (see " +
			"'slackline machine list')")
	}
	options := input.TraceOptions{
		Begin: o.Begin.Value, End: o.End.Value, Ranks: o.Ranks.List, Strict: o.Strict, Partial: o.Future.Program.Partial,
		Clock: o.Clock, Threads: o.Threads, Hash: hash, Group: a.Group(), Space: o.Space,
	}
	in, err := input.OpenTrace(c.Context(), word, options)
	if errors.Is(err, trace.ErrOneReader) {
		if err := a.FirstOnly("reading a trace in this format"); err != nil {
			return nil, err
		}
		options.Group = nil
		in, err = input.OpenTrace(c.Context(), word, options)
	}
	if err != nil {
		return nil, err
	}
	a.WarnAll(in.Warnings)
	NoteOfClocks(a, in.Clocks)
	WarnOfProblems(a, in.Timeline)
	a.WarnOfVoid(c, " on a recorded run; with --machine it is simulated", o.ofSimulations()...)
	if o.Begin.Given || o.End.Given {
		a.WarnOfVoid(c, " beside --begin and --end, which choose the part of the run", "whole")
	}
	tl, err := o.chosen(c.Context(), in.Timeline)
	if err != nil {
		return nil, err
	}
	a.WarnAll(tl.Circumstances())
	return &Run{Name: word, Timeline: tl, Records: []provenance.Input{in.Record}}, nil
}

// ofSimulations are the flags that matter only if a run is simulated.
func (o *RunOptions) ofSimulations() []string {
	names := slices.Concat([]string{"model", "mapping", "scale-network"}, NoiseFlags, []string{"scale-compute", "denoise", "balance-by"},
		ParameterNames())
	return slices.DeleteFunc(names, func(name string) bool { return name == "grid" && o.Future.Program.GridOfRun })
}

// chosen is the part of a recorded run that verbs look at if the flags ask for no other one: that without the start and the end of MPI.
func (o *RunOptions) chosen(ctx context.Context, tl *timeline.Timeline) (*timeline.Timeline, error) {
	if o.Begin.Given || o.End.Given {
		return tl, nil
	}
	if o.Whole {
		tl.Chosen.Whole = tl.MPIStart().Any()
		return tl, nil
	}
	switch o.Start {
	case KeepStart:
		return tl, nil
	case LeaveStart:
		return tl.WithoutStart(ctx, o.Threads, true)
	}
	return tl.CoreTogether(ctx, o.Threads, true)
}

// simulate simulates a run.
func (o *RunOptions) simulate(a *env.Env, c *cobra.Command, word string, hash bool) (*Run, error) {
	o.Future.Program.Strict, o.Future.Program.Clock = o.Strict, o.Clock
	f, err := o.Future.Run(a, c, word, hash)
	if err != nil {
		return nil, err
	}
	if f.Timeline == nil {
		return nil, fmt.Errorf("%s: the simulation gave no timeline", word)
	}
	tl := f.Timeline
	if p := f.Input.Replay; p != nil {
		tl.Source = new(p.Report().Missing)
	}
	if o.Begin.Given || o.End.Given {
		end := tl.End
		if o.End.Given {
			end = min(end, tl.Start+o.End.Value)
		}
		tl = tl.Window(tl.Start+o.Begin.Value, end, o.Threads)
	}
	a.WarnOfVoid(c, " on a simulated run", "only-ranks", "whole")
	return &Run{Name: word, Timeline: tl, Records: f.records, Machine: f.Machine, Change: f.change, Program: f.Input.Program}, nil
}

// ApplyGrid gives the run the process grid of the flag, if that was given. A pattern has made its grid of it already, in its own order.
func (o *RunOptions) ApplyGrid(tl *timeline.Timeline) error {
	dims := o.Future.Program.grid
	if len(dims) == 0 || tl.Simulated && tl.Grid != nil && slices.Equal(tl.Grid.Dims, dims) {
		return nil
	}
	size := 1
	for _, d := range dims {
		size *= d
	}
	if size != tl.Ranks {
		return exit.Usagef("--grid: %s has %s, but the run has %s", o.Future.Program.grid.String(), phrase.Plural(size, "place"),
			phrase.Plural(tl.Ranks, "rank"))
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

// WarnOfProblems warns of what does not fit together in a run.
func WarnOfProblems(a *env.Env, tl *timeline.Timeline) {
	p := &tl.Problems
	if n := p.UnmatchedSends; n > 0 {
		a.Warn("%s without receive%s; left out", phrase.Plural(n, "send"), firstOf(p.Sends))
	}
	if n := p.UnmatchedReceives; n > 0 {
		a.Warn("%s without send%s; left out", phrase.Plural(n, "receive"), firstOf(p.Receives))
	}
	if n := p.IncompleteCollectives; n > 0 {
		a.Warn("%s that not every member has, left out; %s", phrase.Plural(n, "collective"),
			strings.Join(p.Collectives[:min(1, len(p.Collectives))], ""))
	}
	noteOfCut(a, tl)
	if n := p.PendingRequests; n > 0 {
		a.Warn("%s never completed", phrase.Plural(n, "request"))
	}
	if p.Violations+p.EarlyCollectives > 0 {
		a.Warn("%s: the clocks are wrong; --clock clc corrects them", phrase.Early(p.Violations, p.EarlyCollectives, p.WorstViolation.Short()))
	}
	if n := p.Unbalanced; n > 0 {
		a.Warn("%s without the other half", phrase.Plural(n, "enter or leave event"))
	}
	if n := len(p.MissingRanks); n > 0 {
		a.Warn("%s missing, the first is rank %d", phrase.Plural(n, "rank"), p.MissingRanks[0])
	}
	a.WarnAll(p.Notes)
}

// noteOfCut says how much of a run was recorded, if not all.
func noteOfCut(a *env.Env, tl *timeline.Timeline) {
	p := &tl.Problems
	if off, all := tl.Unrecorded(), tl.Lifetimes(); off.Sign() > 0 {
		a.Note("recording was off for %s of the time of all threads; that time counts in no efficiency, wait or cause",
			phrase.PercentOf(off, all))
	}
	if n := p.CutMessages; n > 0 {
		a.Note("%s recorded at one end only, left out: recording was off at the other", phrase.Plural(n, "message"))
	}
	if n := p.CutCollectives; n > 0 {
		a.Note("%s not recorded by all members, left out", phrase.Plural(n, "collective"))
	}
}

// recordedPart says how much of a run was recorded; empty: all of it.
func recordedPart(tl *timeline.Timeline) string {
	off := tl.Unrecorded()
	if off.Sign() <= 0 {
		return ""
	}
	all := tl.Lifetimes()
	on := all.Minus(off)
	part := unit.Duration(float64(tl.End-tl.Start) * on.Float() / all.Float())
	return fmt.Sprintf("%s recorded, %s of the time of all threads", part.Short(), phrase.PercentOf(on, all))
}

// firstOf names the first end of a message that has no other end.
func firstOf(list []timeline.Unmatched) string {
	if len(list) == 0 {
		return ""
	}
	u := list[0]
	return fmt.Sprintf(", the first is %s of rank %d with rank %d, tag %d, at %s", u.Call, u.Rank, u.Peer, u.Tag, u.Time.Short())
}

// NoteOfClocks says what was impossible in the times of a run and was removed.
func NoteOfClocks(a *env.Env, r *trace.ClockReport) {
	if b := &r.Before; b.Messages+b.Groups > 0 {
		a.Note("%s: the controlled logical clock moved %s by up to %s", phrase.Early(b.Messages, b.Groups, b.Worst.Short()),
			phrase.Plural(r.Moved, "moment"), r.Furthest.Short())
	}
	if len(r.Unknown) > 0 {
		a.Warn("the clocks of %s were not compared with that of rank 0: their times may be wrong", phrase.Plural(len(r.Unknown), "rank"))
	}
}
