package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/replay"
	"slackline/internal/input"
	"slackline/model/collective"
	"slackline/model/pattern"
	"slackline/model/unit"
)

// programOptions are the flags that describe the program of an input: the
// parameters of a pattern, and what is made of a recorded run.
type programOptions struct {
	ranks      counts
	size       quantity[unit.Size]
	root       int
	algorithm  string
	iterations int
	grid       grid
	gridOfRun  bool // the grid is also that of a run, recorded or not: of its maps
	compute    quantity[unit.Duration]
	jitter     fraction
	seed       uint64
	periodic   bool
	corners    int
	senders    int
	pieces     int
	without    []string
	operation  string
	scale      factor
	denoise    fraction

	seedUsed  bool // by something else than the pattern
	manyRanks bool // several numbers of ranks make sense
	strict    bool // refuse a damaged trace
	partial   bool // take a trace of which some ranks cannot be read

	share *input.Share // of the processes of a job; nil: there is one
	whole *input.Input // of which a part was opened that cannot be read again; nil: none
	kinds input.Kinds  // of the words, as process 0 of a job sees them; nil: there is no job
}

func newProgramOptions() programOptions {
	return programOptions{size: sizeFlag(), compute: durationFlag()}
}

func (o *programOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(&o.ranks, "ranks", "`number` of ranks, e.g. 1024 or 2^20; of a recorded run a multiple of its ranks (default: the run's)")
	fs.Var(&o.size, "size", "`size` of a message in bytes or with a unit, e.g. 64KiB (default: the pattern's)")
	fs.IntVar(&o.root, "root", 0, "`rank` that is the root of a collective")
	fs.StringVar(&o.algorithm, "algorithm", "", "`name` of the algorithm of a collective (default: the mapping chooses)")
	fs.IntVar(&o.iterations, "iterations", 0, "`number` of repetitions, 1 or more (default: the pattern's)")
	fs.Var(&o.grid, "grid", "process grid, e.g. `16x8` or 4x4x2 (default: near-square or near-cubic)")
	fs.Var(&o.compute, "compute", "mean CPU `time` of a rank per iteration, in whole ns, e.g. 1ms (default: the pattern's)")
	fs.Var(&o.jitter, "jitter", "relative spread of the CPU time, a `fraction` such as 0.1 or 10% (default: the pattern's)")
	fs.Uint64Var(&o.seed, "seed", 0, "`seed` of all random choices; equal seeds give equal results")
	fs.BoolVar(&o.periodic, "periodic", false, "the grid wraps around")
	fs.IntVar(&o.corners, "corners", 0, "`number` of corners that sweeps start from: 1, 2, 4 or 8 (default: the pattern's)")
	fs.IntVar(&o.senders, "senders", 0, "`number` of senders of an incast (default: all other ranks)")
	fs.IntVar(&o.pieces, "pieces", 0, "`number` of pieces of work between which non-blocking operations get the CPU (default: the pattern's)")
	fs.StringSliceVar(&o.without, "without", nil, "leave out `kinds` of communication: p2p, collectives")
	fs.StringVar(&o.operation, "operation", "", "`name` of the collective that a benchmark scheme times (default: bcast)")
	fs.Var(&o.scale, "scale-compute", "recorded runs: multiply the computation by this `factor`, e.g. 0.5")
	fs.Var(&o.denoise, "denoise", "recorded runs: replace repeated computations by this `quantile` of their lengths, to remove the noise of the recorded machine (0.1 if none is given)")
	fs.BoolVar(&o.partial, "partial", false, partialHelp)
	fs.Lookup("denoise").NoOptDefVal = fmt.Sprint(replay.DefaultQuantile)
}

// partialHelp describes the flag --partial.
const partialHelp = "recorded runs: leave out ranks whose events cannot be read, which is an error otherwise"

// recordedFlags are the flags that have an influence on recorded runs alone.
var recordedFlags = []string{"scale-compute", "denoise", "partial"}

// replay turns the flags into what is made of a recorded run.
func (o *programOptions) replay() (replay.Options, error) {
	r := replay.Options{
		Ranks: o.ranks.first(), ScaleCompute: o.scale.value,
		Denoise: o.denoise.given, Quantile: o.denoise.value,
		CutOpen: len(o.ranks) > 1,
	}
	for _, kind := range o.without {
		switch kind {
		case pattern.PointToPoint:
			r.WithoutMessages = true
		case pattern.Collectives:
			r.WithoutCollectives = true
		default:
			return r, usagef("--without: %q is neither %s nor %s", kind, pattern.PointToPoint, pattern.Collectives)
		}
	}
	return r, nil
}

// complete offers names where the flags take them.
func (o *programOptions) complete(c *cobra.Command) {
	completeWith(c, "algorithm", algorithmNames)
	completeWith(c, "operation", pattern.SchemeOperations)
	complete(c, "without", []string{pattern.PointToPoint, pattern.Collectives})
}

// algorithmNames are the algorithms of all collectives, each name once.
func algorithmNames() []string {
	var names []string
	for _, a := range collective.All() {
		if !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	slices.Sort(names)
	return names
}

// patternNames are the names of all patterns.
func patternNames() []string {
	var names []string
	for _, p := range pattern.List() {
		names = append(names, p.Name)
	}
	return names
}

// completeInput offers pattern names, and files, as the first argument.
func completeInput(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for _, name := range patternNames() {
		if strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	return found, cobra.ShellCompDirectiveDefault
}

// params turns the flags into parameters of a pattern: where zero was asked for,
// that is said in the pattern's way.
func (o *programOptions) params(fs *pflag.FlagSet) pattern.Params {
	p := pattern.Params{
		Ranks: o.ranks.first(), Size: int64(o.size.value), Root: o.root, Algorithm: o.algorithm,
		Iterations: o.iterations, Grid: o.grid, Compute: o.compute.value, Jitter: o.jitter.value, Seed: o.seed,
		Periodic: o.periodic, Corners: o.corners, Senders: o.senders, Pieces: o.pieces, Without: o.without, Operation: o.operation,
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

// open opens the input of a verb and warns of parameters that do not matter.
func (o *programOptions) open(a *app, c *cobra.Command, word string, hash bool) (*input.Input, error) {
	fs := c.Flags()
	for _, name := range []string{"iterations", "corners", "pieces", "senders"} {
		if f := fs.Lookup(name); f.Changed && strings.HasPrefix(f.Value.String(), "-") || f.Changed && f.Value.String() == "0" {
			return nil, usagef("--%s: give at least 1", name)
		}
	}
	if len(o.ranks) > 1 && !o.manyRanks && !o.kinds.IsSchedule(word) {
		return nil, usagef("--ranks: %d counts are given, but one is needed", len(o.ranks))
	}
	params := o.params(fs)
	if !o.kinds.IsFile(word) && pattern.Has(word) && !fs.Changed("ranks") {
		return nil, &usageError{text: fmt.Sprintf("the pattern %s needs --ranks", word), command: c.CommandPath()}
	}
	options := input.Options{Stdin: a.stdin, Params: params, Hash: hash, Strict: o.strict, Partial: o.partial, Share: o.share, Kinds: o.kinds}
	if o.kinds.IsTrace(word) {
		var err error
		if options.Replay, err = o.replay(); err != nil {
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
	o.whole = in.Whole
	for _, n := range in.Notes {
		a.note("%s", n)
	}
	for _, w := range in.Warnings {
		a.warn("%s", w)
	}
	o.warnOfParameters(a, fs, in, params)
	return in, nil
}

// warnOfParameters tells of parameters that the input does not have.
func (o *programOptions) warnOfParameters(a *app, fs *pflag.FlagSet, in *input.Input, params pattern.Params) {
	given := o.given(fs)
	if in.Replay == nil {
		for _, name := range recordedFlags {
			if fs.Changed(name) {
				a.warn("--%s has no influence: %s is not a recorded run", name, in.Name)
			}
		}
	}
	switch {
	case in.Replay != nil:
		o.reportReplay(a, in.Replay.Report())
		for _, name := range given {
			if name != "ranks" && name != "without" && !(name == "grid" && o.gridOfRun) {
				a.warn("--%s has no influence: %s is a recorded run, not a pattern", name, in.Name)
			}
		}
	case in.IsFile():
		for _, name := range given {
			a.warn("--%s has no influence: %s is a file, not a pattern", name, in.Name)
		}
	default:
		for _, name := range pattern.Unused(in.Pattern, params, given) {
			a.warn("--%s has no influence on the pattern %s", name, in.Pattern)
		}
	}
}

// reportReplay says what became of a recorded run.
func (o *programOptions) reportReplay(a *app, r *replay.Report) {
	a.note("recorded run of %s over %s: %s, %s", plural(r.Recorded, "rank"), r.Span.Short(), plural(r.Messages, "message"), plural(r.Collectives, "collective"))
	if len(o.ranks) > 0 {
		if text := r.Extrapolation(slices.Max(o.ranks)); text != "" {
			a.note("%s", text)
			a.warnings = append(a.warnings, text) // for those who read the result alone
		}
	}
	if !o.denoise.given {
		return
	}
	if r.Denoised == 0 {
		a.warn("--denoise has no influence: no computation is repeated")
		return
	}
	a.note("%s took %s and were set to %s", plural(r.Denoised, "repeated computation"), r.BeforeDenoise.Short(), r.AfterDenoising.Short())
}

// mapped reports whether a mapping chooses algorithms of the input's collectives:
// not if there are none, and not if the one collective of a pattern has its
// algorithm by name.
func (o *programOptions) mapped(in *input.Input) bool {
	if !in.Program.Shape().Collectives {
		return false
	}
	for _, p := range pattern.List() {
		if p.Name == in.Pattern && p.Kind == pattern.Collective {
			return o.algorithm == "" && slices.Contains(p.Params, "algorithm")
		}
	}
	return true
}

// given are the parameters that stood on the command line, in the order of the
// pattern package.
func (o *programOptions) given(fs *pflag.FlagSet) []string {
	var list []string
	for _, p := range pattern.Parameters() {
		if fs.Changed(p.Name) && !(p.Name == "seed" && o.seedUsed) {
			list = append(list, p.Name)
		}
	}
	return list
}

// count is a flag with one count, which may be written as a power.
type count int

// Set implements pflag.Value.
func (n *count) Set(s string) error {
	var list counts
	if err := list.Set(s); err != nil {
		return err
	}
	if len(list) != 1 {
		return fmt.Errorf("%q names %d counts, but one is needed", s, len(list))
	}
	*n = count(list[0])
	return nil
}

func (n *count) String() string {
	if *n == 0 {
		return ""
	}
	return strconv.Itoa(int(*n))
}

// Type implements pflag.Value.
func (n *count) Type() string { return "number" }

// counts is a flag with one number of ranks or several, which may be written as
// powers and ranges.
type counts []int

// Set implements pflag.Value.
func (n *counts) Set(s string) error {
	list, err := unit.ParseCounts(s)
	if err != nil {
		return err
	}
	*n = nil
	for _, v := range list {
		if v < 1 {
			return fmt.Errorf("%d is too few; give at least 1", v)
		}
		if !slices.Contains(*n, v) {
			*n = append(*n, v)
		}
		if len(*n) > maxCounts {
			return fmt.Errorf("%q names more than %d counts; use larger steps, e.g. 2^1..2^20", s, maxCounts)
		}
	}
	return nil
}

// maxCounts is the largest number of counts that a flag takes.
const maxCounts = 10_000

// first is the first count; 0: none was given.
func (n counts) first() int {
	if len(n) == 0 {
		return 0
	}
	return n[0]
}

func (n *counts) String() string {
	words := make([]string, len(*n))
	for i, v := range *n {
		words[i] = strconv.Itoa(v)
	}
	return strings.Join(words, ",")
}

// Type implements pflag.Value.
func (n *counts) Type() string { return "number" }

// grid is a flag with a process grid.
type grid []int

// Set implements pflag.Value.
func (g *grid) Set(s string) error {
	v, err := pattern.ParseGrid(s)
	if err != nil {
		return err
	}
	*g = v
	return nil
}

func (g *grid) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*g)), " ", "x"), "[]")
}

// Type implements pflag.Value.
func (g *grid) Type() string { return "grid" }

// fraction is a flag with a number from 0 to 1, or a percentage.
type fraction struct {
	value float64
	given bool
}

// Set implements pflag.Value.
func (f *fraction) Set(s string) error {
	number, scale := s, 1.0
	if cut, ok := strings.CutSuffix(s, "%"); ok {
		number, scale = cut, 100
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number; give a fraction, e.g. 0.1 or 10%%", s)
	}
	v /= scale
	if !(v >= 0 && v <= 1) {
		return fmt.Errorf("%s is not in 0 to 1; give a fraction, e.g. 0.1 or 10%%", s)
	}
	f.value, f.given = v, true
	return nil
}

func (f *fraction) String() string {
	if !f.given {
		return ""
	}
	return fmt.Sprint(f.value)
}

// Type implements pflag.Value.
func (f *fraction) Type() string { return "fraction" }
