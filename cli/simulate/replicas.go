package simulate

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/internal/atomicfile"
	"slackline/internal/memory"
	"slackline/internal/source"
	"slackline/model/noise"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

// replicaOptions are the flags that ask for more than one run.
type replicaOptions struct {
	replicas   int
	samples    bool
	offsetsOut string
	resume     string
	threshold  flags.Factor
	precise    bool
	jobSize    flags.Count
}

func (o *replicaOptions) addFlags(fs *pflag.FlagSet) {
	flags.AddNumber(fs, &o.replicas, "replicas", 0, flags.Between(1, maxReplicas),
		"`number` of runs for each number of ranks, which differ by the offsets of the ranks in the "+
			"noise; prints how their times are distributed")
	fs.BoolVar(&o.samples, "samples", false, "print the time of every replica too")
	fs.StringVar(&o.offsetsOut, "offsets-out", "", "write the offsets of each replica below this `directory`, as --noise-offsets reads them")
	fs.StringVar(&o.resume, "resume", "", "keep finished replicas in this `file`, and go on from what it holds")
	fs.Var(&o.threshold, "bottleneck", "find the number of ranks where the median slowdown reaches this `threshold` (between the smallest "+
		"and the largest of --ranks)")
	fs.Lookup("bottleneck").NoOptDefVal = "2"
	fs.BoolVar(&o.precise, "precise", false, "find the bottleneck to one part in a hundred, not only to a power of two")
	fs.Var(&o.jobSize, "job-size", "with --bottleneck: how much must the noise shrink so that this `number` of ranks stays "+
		"below the threshold?")
}

// The defaults of a search for the bottleneck.
const (
	searchReplicas = 20
	searchFrom     = 2
	searchTo       = 1 << 20
)

// many reports whether more than one run is asked for.
func (o *simulateOptions) many() bool {
	return o.replicas.replicas != 0 || len(o.Program.Ranks) > 1 || o.replicas.threshold.Given
}

// checkReplicas finds flags that contradict each other.
func (o *simulateOptions) checkReplicas(c *cobra.Command) error {
	r, fs := &o.replicas, c.Flags()
	for _, name := range []string{"precise", "job-size"} {
		if fs.Changed(name) && !r.threshold.Given {
			return exit.Usagef("--%s needs --bottleneck", name)
		}
	}
	if r.threshold.Given && !(r.threshold.Value > 1) {
		return exit.Usagef("--bottleneck: expected a slowdown above 1 such as --bottleneck=2, got %s", &r.threshold)
	}
	if !o.many() {
		for _, name := range []string{"samples", "offsets-out", "resume"} {
			if fs.Changed(name) {
				return exit.Usagef("--%s needs --replicas", name)
			}
		}
		return nil
	}
	switch {
	case o.breakdown:
		return exit.Usagef("--breakdown shows one run; leave out --replicas and give one number of ranks")
	case o.plotKind != figureAuto:
		return exit.Usagef("--plot-kind %s shows one run; leave it out for box plots", o.plotKind)
	case o.Noise.Offsets != "" && (r.replicas > 0 || r.threshold.Given):
		return exit.Usagef("--noise-offsets gives the offsets of one run; leave it out, or --replicas")
	case o.Noise.Offsets != "":
		return exit.Usagef("--noise-offsets gives the offsets of one number of ranks; give one")
	case r.threshold.Given && (r.samples || r.offsetsOut != ""):
		return exit.Usagef("--samples and --offsets-out go with --replicas, not with --bottleneck")
	}
	return nil
}

// checkOffsetsOut finds a directory for offsets that cannot be one.
func (o *simulateOptions) checkOffsetsOut() error {
	dir := o.replicas.offsetsOut
	if dir == "" {
		return nil
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("--offsets-out: %s is not a directory", dir)
	}
	for _, other := range []env.Output{env.To("out", o.result.Out), env.To("plot", o.result.Plot), env.To("resume", o.replicas.resume)} {
		if other.Path != "" && other.Path != "-" && atomicfile.Same(dir, other.Path) {
			return exit.Usagef("--offsets-out needs a directory of its own; %s is the file of --%s", dir, other.Flag)
		}
	}
	return nil
}

// maxReplicas is the largest number of replicas: their times stay in memory.
const maxReplicas = 10_000_000

// seriesRun is a call of simulate with more than one run.
type seriesRun struct {
	*simulateOptions
	input    *input.Input
	scenario *scenario.Scenario
	series   whatif.Series
	inputs   []string // words that name inputs

	parameters map[string]string // of a pattern, as they were given
}

// runMany runs a series: several numbers of ranks, replicas, or both.
func (o *simulateOptions) runMany(a *env.Env, c *cobra.Command, word string, s *scenario.Scenario, inputs []string) error {
	if o.replicas.threshold.Given && !c.Flags().Changed("ranks") && !o.Program.Kinds.IsFile(word) {
		o.Program.Ranks = flags.Counts{searchFrom, searchTo}
		if err := c.Flags().Lookup("ranks").Value.Set(o.Program.Ranks.String()); err != nil {
			return err
		}
		c.Flags().Lookup("ranks").Changed = true
	}
	o.Program.ManyRanks = true
	o.Program.ShareWhole(a)
	in, err := s.Open(word, o.result.IsJSON() || o.replicas.resume != "")
	if err != nil {
		return err
	}
	r := &seriesRun{simulateOptions: o, input: in, scenario: s, inputs: inputs}
	if err := r.prepare(a, c); err != nil {
		return err
	}
	r.series.Group = a.Group()
	o.warnOfInput(a, c, in)
	if err := r.warnOfVoid(a, c); err != nil {
		return err
	}
	if o.replicas.threshold.Given {
		return r.findBottleneck(a, c)
	}
	return r.run(a, c)
}

// prepare describes the series.
func (r *seriesRun) prepare(a *env.Env, c *cobra.Command) error {
	r.parameters = map[string]string{}
	for _, name := range r.Program.Given(c.Flags()) {
		r.parameters[name] = c.Flags().Lookup(name).Value.String()
	}
	list, maker, err := r.programs(c)
	if err != nil {
		return err
	}
	largest := max(slices.Max(list), int(r.replicas.jobSize))
	if err := scenario.CheckMemory(largest, a.ProcessesHere(), memory.Available); err != nil {
		return err
	}
	n, err := env.ReadOnce(c.Context(), a, func(from source.Source) (whatif.Noise, error) {
		return r.Noise.Describe(from, slices.Min(list), r.Program.Seed, r.replicas.replicas > 0 || r.replicas.threshold.Given)
	})
	if err != nil {
		return err
	}
	if n.IsZero() && (r.replicas.replicas > 1 || r.replicas.threshold.Given) {
		return exit.Usagef("there is no noise, so all runs are equal; give --noise (see 'slackline simulate --help')")
	}
	r.series = whatif.Series{
		Counts: list, Program: maker, Machine: r.scenario.Machine, Noise: n, Replicas: max(r.replicas.replicas, 1),
		Options: simulate.Options{Model: r.Machine.Model(), Mapping: r.scenario.Mapping, Threads: r.threads},
	}
	if r.replicas.threshold.Given && r.replicas.replicas == 0 {
		r.series.Replicas = searchReplicas
	}
	return nil
}

// programs returns the numbers of ranks of the series, and what makes its programs.
func (r *seriesRun) programs(c *cobra.Command) (list []int, maker func(ranks int) (schedule.Program, error), err error) {
	switch in := r.input; {
	case in.Pattern != "":
		list = r.Program.Ranks
		params := r.Program.Params(c.Flags())
		maker = func(ranks int) (schedule.Program, error) {
			p := params
			p.Ranks = ranks
			return pattern.New(in.Pattern, p)
		}
	case in.Replay != nil && len(r.Program.Ranks) > 0:
		list = r.Program.Ranks
		maker = func(ranks int) (schedule.Program, error) { return in.Replay.WithRanks(ranks) }
	case r.replicas.threshold.Given:
		return nil, nil, exit.Usagef("--bottleneck: %s is a file with one number of ranks; give a pattern, or --ranks for a recorded run",
			in.Name)
	default:
		list = []int{in.Program.Ranks()}
		maker = func(int) (schedule.Program, error) { return in.Program, nil }
	}
	for _, ranks := range list { // before a long run, not in the midst of it
		if _, err := maker(ranks); err != nil {
			return nil, nil, err
		}
	}
	return list, maker, nil
}

// run runs the replicas and prints their distribution, also of an unfinished
// series.
func (r *seriesRun) run(a *env.Env, c *cobra.Command) error {
	if dir := r.replicas.offsetsOut; dir != "" && a.IsFirst() {
		if err := os.MkdirAll(dir, 0o777); err != nil { // before a long run, not after it
			return err
		}
	}
	return r.carryOut(a, c, func() (*seriesReport, error) {
		points, failed := r.series.Run(c.Context())
		return &seriesReport{points: points}, failed
	})
}

// carryOut watches how a series comes about, and prints what process 0 has of it, also if it is unfinished.
func (r *seriesRun) carryOut(a *env.Env, c *cobra.Command, run func() (*seriesReport, error)) error {
	watch, err := r.watch(a)
	if err != nil {
		return err
	}
	report, failed := run()
	if err := watch.end(report.points, failed); err != nil {
		return err
	}
	if failed == nil {
		if err := a.SharedDone(c.Context()); err != nil {
			return err
		}
	}
	if len(report.points) == 0 {
		return failed
	}
	if r.replicas.offsetsOut != "" {
		if err := a.Postpone(r.writeOffsets(report.points)); err != nil {
			return err
		}
	}
	report.run, report.complete = r, failed == nil
	return cmp.Or(a.WriteResult("simulate", report, &r.result, r.inputs), failed)
}

// writeOffsets writes the offsets of all replicas of the points: in files of
// their own, by number of ranks if there are several.
func (r *seriesRun) writeOffsets(points []whatif.Point) error {
	trace, err := r.series.Noise.Trace()
	if err != nil {
		return err
	}
	for _, p := range points {
		dir := r.replicas.offsetsOut
		if len(r.series.Counts) > 1 {
			dir = filepath.Join(dir, fmt.Sprint(p.Ranks))
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		layout, err := r.scenario.Machine.Layout(p.Ranks)
		if err != nil {
			return err
		}
		buffer := make([]int64, p.Ranks)
		for i := range p.Samples {
			offsets := buffer // without noise all are 0
			if trace != nil {
				if drawn := r.series.Noise.OffsetsOf(trace, layout, i, buffer); drawn != nil {
					offsets = drawn
				}
			}
			if err := writeOffsetFile(filepath.Join(dir, fmt.Sprintf("%04d.txt", i)), offsets); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeOffsetFile(path string, offsets []int64) error {
	return atomicfile.Write(path, func(w io.Writer) error { return noise.WriteOffsets(w, offsets) })
}
