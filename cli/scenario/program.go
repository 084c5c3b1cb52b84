// Package scenario resolves the inputs of a verb: the flags that describe a program, a machine, noise and a mapping become
// what is simulated or analyzed, with its provenance.
package scenario

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/replay"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/internal/phrase"
	"slackline/model/collective"
	"slackline/model/pattern"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
)

// ProgramOptions are the flags that describe the program of an input: the
// parameters of a pattern, and what is made of a recorded run.
type ProgramOptions struct {
	params     pattern.Params // as far as a flag is a field of it
	Ranks      flags.Counts
	size       flags.Quantity[unit.Size]
	grid       flags.Grid
	GridOfRun  bool // the grid is also that of a run, recorded or not: of its maps
	compute    flags.Quantity[unit.Duration]
	jitter     flags.Fraction
	Seed       uint64
	fixup      flags.Fraction
	gradients  flags.Quantity[unit.Size]
	stragglers [][]pattern.Straggler // by flag
	scale      flags.Factor
	denoise    flags.Fraction

	SeedUsed  bool        // by something else than the pattern
	ManyRanks bool        // several numbers of ranks make sense
	Strict    bool        // refuse a damaged trace
	Clock     trace.Clock // that brings the clocks of a trace together
	Partial   bool        // take a trace of which some ranks cannot be read
	KeepRun   bool        // keep a recorded run beside the program that is made of it
	NoMachine bool        // see replay.Options

	ToRun *input.ToRun // the program is only run; nil: a graph is needed of a schedule file
	Share *input.Share // of the processes of a job; nil: there is one
	whole *input.Input // of which a part was opened that cannot be read again; nil: none
	Kinds input.Kinds  // of the words, as process 0 of a job sees them; nil: there is no job
}

func (o *ProgramOptions) AddFlags(fs *pflag.FlagSet) {
	fs.Var(&o.Ranks, "ranks", "`number` of ranks, e.g. 1024 or 2^20; of a recorded run a multiple of its ranks (default: the run's)")
	fs.Var(&o.size, "size", "`size` of a message in bytes or with a unit, e.g. 64KiB (default: the pattern's)")
	flags.AddNumber(fs, &o.params.Root, "root", 0, flags.AtLeast(0), "`rank` that is the root of a collective")
	fs.StringVar(&o.params.Algorithm, "algorithm", "", "`name` of the algorithm of a collective (default: the mapping chooses)")
	addCount(fs, &o.params.Iterations, "iterations", "`number` of repetitions, 1 or more (default: the pattern's)")
	fs.Var(&o.grid, "grid", "process grid, e.g. `16x8` or 4x4x2 (default: near-square or near-cubic)")
	fs.Var(&o.compute, "compute", "mean CPU `time` of a rank per iteration, in whole ns, e.g. 1ms (default: the pattern's)")
	fs.Var(&o.jitter, "jitter", "relative spread of the CPU time, a `fraction` such as 0.1 or 10% (default: the pattern's)")
	fs.Uint64Var(&o.Seed, "seed", 0, "`seed` of all random choices; equal seeds give equal results")
	fs.BoolVar(&o.params.Periodic, "periodic", false, "the grid wraps around")
	addCount(fs, &o.params.Corners, "corners", "`number` of corners that sweeps start from: 1, 2, 4 or 8 (default: the pattern's)")
	addCount(fs, &o.params.Senders, "senders", "`number` of senders of an incast (default: all other ranks)")
	addCount(fs, &o.params.Pieces, "pieces", "`number` of pieces of work between which non-blocking operations get the CPU, or of a "+
		"pipelined message (default: the pattern's)")
	addCount(fs, &o.params.Tile, "tile", "`ranks` of a copy: an application is made for so many and copied, messages stay inside a copy, "+
		"collectives include all")
	addCount(fs, &o.params.Blocks, "blocks", "`number` of blocks of planes and angles in an octant of sweep3d (default: the pattern's)")
	fs.Var(&o.fixup, "fixup", "`fraction` by which flux fix-ups prolong a block of sweep3d on its outer ranks, e.g. 0.5")
	fs.StringSliceVar(&o.params.Without, "without", nil, "leave out `kinds` of communication: p2p, collectives")
	o.addTrainingFlags(fs)
	fs.StringVar(&o.params.Operation, "operation", "", "`name` of the collective that a benchmark scheme times (default: bcast)")
	fs.Var(&o.scale, "scale-compute", "recorded runs: multiply the computation by this `factor`, e.g. 0.5")
	fs.Var(&o.denoise, "denoise", "recorded runs: replace repeated computations by this `quantile` of their lengths, to remove the noise of "+
		"the recorded machine (0.1 if none is given)")
	fs.BoolVar(&o.Partial, "partial", false, PartialHelp)
	fs.Lookup("denoise").NoOptDefVal = fmt.Sprint(replay.DefaultQuantile)
}

// addCount adds a flag of a pattern that is 1 or more; 0 is the pattern's default.
func addCount(fs *pflag.FlagSet, to *int, name, usage string) {
	flags.AddNumber(fs, to, name, 0, flags.AtLeast(1), usage)
}

// PartialHelp describes the flag --partial.
const PartialHelp = "recorded runs: leave out ranks whose events cannot be read, which is an error otherwise"

// recordedFlags are the flags that have an influence on recorded runs alone.
var recordedFlags = []string{"scale-compute", "denoise", "partial", "strict", "clock"}

// Replay turns the flags into what is made of a recorded run.
func (o *ProgramOptions) Replay(fs *pflag.FlagSet) (replay.Options, error) {
	r := replay.Options{
		Ranks: o.Ranks.First(), ScaleCompute: o.scale.Value,
		Denoise: o.denoise.Given, Quantile: o.denoise.Value,
		CutOpen: len(o.Ranks) > 1, KeepTransfers: isRecordedMachine(fs), NoMachine: o.NoMachine,
	}
	for _, kind := range o.params.Without {
		switch kind {
		case pattern.PointToPoint:
			r.WithoutMessages = true
		case pattern.Collectives:
			r.WithoutCollectives = true
		default:
			return r, exit.Usagef("--without: %q is neither %s nor %s", kind, pattern.PointToPoint, pattern.Collectives)
		}
	}
	return r, nil
}

// Complete offers names where the flags take them.
func (o *ProgramOptions) Complete(c *cobra.Command) {
	flags.CompleteWith(c, "algorithm", AlgorithmNames)
	flags.CompleteWith(c, "operation", pattern.SchemeOperations)
	flags.Complete(c, "without", []string{pattern.PointToPoint, pattern.Collectives})
}

// AlgorithmNames are the algorithms of all collectives, each name once.
func AlgorithmNames() []string {
	var names []string
	for _, a := range collective.All() {
		if !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	slices.Sort(names)
	return names
}

// ParameterNames are the names of all parameters of patterns, which are also those of the flags.
func ParameterNames() []string {
	var names []string
	for _, p := range pattern.Parameters() {
		names = append(names, p.Name)
	}
	return names
}

// PatternNames are the names of all patterns.
func PatternNames() []string {
	var names []string
	for _, p := range pattern.List() {
		names = append(names, p.Name)
	}
	return names
}

// CompleteInput offers pattern names, and files, as the first argument.
var CompleteInput = flags.FirstOf(PatternNames)

// Params turns the flags into parameters of a pattern: where zero was asked for,
// that is said in the pattern's way.
func (o *ProgramOptions) Params(fs *pflag.FlagSet) pattern.Params {
	p := o.params
	p.Ranks, p.Size, p.Grid, p.Seed = o.Ranks.First(), int64(o.size.Value), o.grid, o.Seed
	p.Compute, p.Jitter, p.Fixup = o.compute.Value, o.jitter.Value, o.fixup.Value
	p.Gradients, p.Stragglers = int64(o.gradients.Value), slices.Concat(o.stragglers...)
	if fs.Changed("gradients") && p.Gradients == 0 {
		p.Gradients = pattern.None
	}
	if fs.Changed("size") && p.Size == 0 {
		p.Size = pattern.None
	}
	if fs.Changed("compute") && p.Compute == 0 {
		p.Compute = pattern.None
	}
	if fs.Changed("jitter") && p.Jitter == 0 {
		p.Jitter = pattern.None
	}
	return p
}

// Open opens the input of a verb and warns of parameters that do not matter.
func (o *ProgramOptions) Open(a *env.Env, c *cobra.Command, word string, hash bool) (*input.Input, error) {
	fs := c.Flags()
	if len(o.Ranks) > 1 && !o.ManyRanks && !o.Kinds.IsSchedule(word) {
		return nil, exit.Usagef("--ranks: %d counts are given, but one is needed", len(o.Ranks))
	}
	params := o.Params(fs)
	if !o.Kinds.IsFile(word) && pattern.Has(word) && !fs.Changed("ranks") {
		return nil, &exit.UsageError{Text: fmt.Sprintf("the pattern %s needs --ranks", word), Command: c.CommandPath()}
	}
	options := input.Options{Stdin: a.Stdin, Params: params, Hash: hash, Strict: o.Strict, Clock: o.Clock,
		Partial: o.Partial, KeepRun: o.KeepRun,
		ToRun: o.ToRun, Share: o.Share, Kinds: o.Kinds}
	if o.Kinds.IsTrace(word) {
		var err error
		if options.Replay, err = o.Replay(fs); err != nil {
			return nil, err
		}
	}
	in, err := o.whole, error(nil)
	if in == nil {
		in, err = input.Open(c.Context(), word, options)
	}
	if err != nil {
		return nil, err
	}
	if isRecordedMachine(fs) && (in.Replay == nil || !in.Replay.Report().Accelerators) {
		return nil, exit.Usagef("--machine %s: that is the machine of a recorded run with accelerators, which %s is not; name another one",
			recordedMachine, word)
	}
	o.whole = in.Whole
	for _, n := range in.Notes {
		a.Note("%s", n)
	}
	a.WarnAll(in.Warnings)
	o.warnOfParameters(a, fs, in, params)
	return in, nil
}

// warnOfParameters warns of parameters that the input does not have.
func (o *ProgramOptions) warnOfParameters(a *env.Env, fs *pflag.FlagSet, in *input.Input, params pattern.Params) {
	given := o.Given(fs)
	if in.Replay == nil {
		for _, name := range recordedFlags {
			if fs.Changed(name) {
				a.Warn("--%s has no influence: %s is not a recorded run", name, in.Name)
			}
		}
	}
	switch {
	case in.Replay != nil:
		o.reportReplay(a, in.Replay.Report())
		for _, name := range given {
			if name != "ranks" && name != "without" && !(name == "grid" && o.GridOfRun) {
				a.Warn("--%s has no influence: %s is a recorded run, not a pattern", name, in.Name)
			}
		}
	case in.IsFile():
		for _, name := range given {
			a.Warn("--%s has no influence: %s is a file, not a pattern", name, in.Name)
		}
	default:
		if len(o.Ranks) > 1 {
			params.Ranks = 0 // what is void for one number may matter for another
		}
		for _, name := range pattern.Unused(in.Pattern, params, given) {
			a.Warn("--%s has no influence on the pattern %s", name, in.Pattern)
		}
	}
}

// reportReplay says what became of a recorded run.
func (o *ProgramOptions) reportReplay(a *env.Env, r *replay.Report) {
	inner := ""
	if r.InnerMessages > 0 {
		inner = fmt.Sprintf(", %s of one-sided and other calls", phrase.Plural(r.InnerMessages, "message"))
	}
	a.Note("recorded run of %s over %s: %s, %s%s", phrase.Plural(r.Recorded, "rank"), r.Span.Short(), phrase.Plural(r.Messages, "message"),
		phrase.Plural(r.Collectives, "collective"), inner)
	if len(o.Ranks) > 0 {
		if text := r.Extrapolation(slices.Max(o.Ranks)); text != "" {
			a.Note("%s", text)
			a.Warnings = append(a.Warnings, text) // for those who read the result alone
		}
	}
	if !o.denoise.Given {
		return
	}
	if r.Denoised == 0 {
		a.Warn("--denoise has no influence: no computation is repeated")
		return
	}
	a.Note("%s took %s and were set to %s", phrase.Plural(r.Denoised, "repeated computation"), r.BeforeDenoise.Short(),
		r.AfterDenoising.Short())
}

// Mapped reports whether a mapping chooses algorithms of the input's collectives:
// not if there are none, and not if the one collective of a pattern has its
// algorithm by name.
func (o *ProgramOptions) Mapped(in *input.Input) bool {
	if !in.Program.Shape().Collectives {
		return false
	}
	for _, p := range pattern.List() {
		if p.Name == in.Pattern && p.Kind == pattern.Collective {
			return o.params.Algorithm == "" && slices.Contains(p.Params, "algorithm")
		}
	}
	return true
}

// WarnOfMapping warns of a mapping that was given and has no influence on an input.
func (o *ProgramOptions) WarnOfMapping(a *env.Env, c *cobra.Command, in *input.Input) {
	switch {
	case !in.Program.Shape().Collectives:
		a.WarnOfVoid(c, ": "+in.Name+" has no collectives to be expanded", "mapping")
	case !o.Mapped(in):
		a.WarnOfVoid(c, ": the algorithm of "+in.Name+" is given", "mapping")
	}
}

// Given are the parameters that stood on the command line, in the order of the
// pattern package.
func (o *ProgramOptions) Given(fs *pflag.FlagSet) []string {
	var list []string
	for _, p := range pattern.Parameters() {
		if fs.Changed(p.Name) && !(p.Name == "seed" && o.SeedUsed) {
			list = append(list, p.Name)
		}
	}
	return list
}

// gridOf is the process grid: that of the flag, or that of the run if its ranks follow the last dimension first; nil: none is known.
func (o *ProgramOptions) gridOf(tl *timeline.Timeline) []int {
	if len(o.grid) > 0 {
		return o.grid
	}
	if tl == nil || tl.Grid == nil || len(tl.Grid.Coords) != tl.Ranks {
		return nil
	}
	for rank, at := range tl.Grid.Coords {
		if len(at) != len(tl.Grid.Dims) {
			return nil
		}
		place := 0
		for i, x := range at {
			place = place*tl.Grid.Dims[i] + x
		}
		if place != rank {
			return nil
		}
	}
	return tl.Grid.Dims
}
