// Package simulate is the verb simulate: it simulates a program on a machine, once or in replicas, with or without noise.
package simulate

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/simulate"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/model/pattern"
	"slackline/show/plot"
)

type simulateOptions struct {
	scenario.Options
	threads   int
	share     string
	replicas  replicaOptions
	breakdown bool
	attribute bool
	result    env.ResultFlags
	plotKind  string
	trace     simulatedTrace
}

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "simulate", Group: env.Analyze, Job: env.Shared, New: command,
	Documents: env.Documents{"simulate": {runDocument{}, seriesDocument{}}},
}

func command(a *env.Env) *cobra.Command {
	o := &simulateOptions{}
	c := &cobra.Command{
		Use:   "simulate INPUT",
		Short: "Simulate a schedule on a machine and print when every rank finishes.",
		Annotations: flags.Arguments("INPUT",
			"a schedule file (GOAL text, LogGOPSim binary, slackline schedule, Chakra execution traces) or a recorded run (a trace), "+
				"recognized by its content; - for the standard input; or the name of a pattern ('slackline generate --list')"),
		Example: `  slackline simulate dissemination --ranks 1024 --size 1B --machine chic
  slackline simulate gather --algorithm linear --ranks 16384 --size 1B --machine chic
  slackline simulate run.goal -L 2500ns -o 1500ns -g 1us -G 6ns -O 0 -S 65535 --format json
  slackline simulate bcast --algorithm binomial --ranks 8 --machine chic --plot bcast.svg
  slackline simulate dissemination --ranks 2^1..2^15 --machine cnl --noise 1000Hz:100us \
      --replicas 100 --plot boxes.svg
  slackline simulate dissemination --machine altix --noise altix --bottleneck --job-size 2^20
  slackline simulate traces.otf2 --ranks 4096 --machine chic --noise chic --denoise
  slackline simulate sweep3d --ranks 64 --machine chic --trace sweep.pftrace
  mpirun -n 16 slackline simulate sweep3d --ranks 2^20 --machine piz-daint`,
		Args: flags.ExactArgs("INPUT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args[0]) },
	}
	a.AddGroup(c, "Machine", o.Machine.AddFlags)
	a.AddGroup(c, "Pattern or recorded run (no influence on schedule files)", o.Program.AddFlags)
	a.AddGroup(c, "Simulation", o.addSimulationFlags)
	a.AddGroup(c, "Noise", o.Noise.AddFlags)
	a.AddGroup(c, "Many runs", o.replicas.addFlags)
	a.AddGroup(c, "Output", o.addOutputFlags)
	c.Flags().Lookup("ranks").Usage = "`number` of ranks, e.g. 1024 or 2^20; several, e.g. 2^1..2^10, are run one after the other; of a " +
		"recorded run multiples of its ranks (default: the run's)"
	c.ValidArgsFunction = scenario.CompleteInput
	o.Complete(c)
	return c
}

func (o *simulateOptions) addSimulationFlags(fs *pflag.FlagSet) {
	o.Machine.AddModel(fs)
	scenario.AddMapping(fs, &o.Mapping)
	flags.AddThreads(fs, &o.threads, 0, "`number` of threads; the result does not depend on it (default: one per core)")
	env.AddShare(fs, &o.share, "one run")
}

func (o *simulateOptions) addOutputFlags(fs *pflag.FlagSet) {
	o.result.AddFlags(fs, "form of the output")
	fs.BoolVar(&o.breakdown, "breakdown", false, "say where the time of the ranks goes: compute, overhead, noise, waiting; they add up to "+
		"the finish time, times the number of CPUs if there are several")
	fs.BoolVar(&o.attribute, "attribute", false, "say what the noise did: how much of it made the run longer, by source and rank, and where "+
		"the rest was absorbed")
	o.result.AddPlot(fs, "draw the run into `FILE.svg|png`")
	flags.AddChoice(fs, &o.plotKind, "plot-kind", "what to draw: a message diagram (of a small run), a finish-time profile (of a large "+
		"one), or what fits its size", figureAuto, figureAuto, figureMessages, figureFinish)
	o.trace.addFlags(fs)
}

// run is the verb: open the input, simulate it, print the result.
func (o *simulateOptions) run(a *env.Env, c *cobra.Command, word string) error {
	if o.result.Plot == "" && o.plotKind != figureAuto {
		return exit.Usagef("--plot-kind needs --plot FILE")
	}
	if err := o.Check(a, c, word); err != nil {
		return err
	}
	if o.Program.Kinds.IsSchedule(word) {
		o.Program.Ranks = nil // a schedule has its own; a warning will say so
	}
	if err := o.checkReplicas(c); err != nil {
		return err
	}
	if err := o.checkAttribute(o.many()); err != nil {
		return err
	}
	inputs := o.Files(word)
	if a.IsFirst() { // it alone writes them
		if err := o.checkOutputs(word, inputs); err != nil {
			return err
		}
	}
	if o.Machine.Model() != simulate.LogGPS {
		o.Program.ToRun = &input.ToRun{Threads: o.threads}
	}
	s, err := o.Resolve(a, c)
	if err != nil {
		return err
	}
	inputs = o.Files(word) // with the noise of the machine
	if len(s.Machine.Topology) > 0 {
		a.Warn("topology: of %s has no influence on simulate: it is for studies per wire", o.Machine.Name)
	}
	if o.many() {
		return o.runMany(a, c, word, s, inputs)
	}
	return a.FasterAlone(c, o.share, func() error { return o.runOne(a, c, word, s, inputs) })
}

// runOne simulates the input once.
func (o *simulateOptions) runOne(a *env.Env, c *cobra.Command, word string, s *scenario.Scenario, inputs []string) error {
	if err := o.shareRun(a, s.Machine, word); err != nil {
		return err
	}
	in, err := s.Open(word, o.result.IsJSON())
	if err != nil {
		return err
	}
	injection, err := s.Injection(in.Program.Ranks())
	if err != nil {
		return err
	}
	options := simulate.Options{
		Model: o.Machine.Model(), Mapping: s.Mapping, Threads: o.threads,
		Noise: injection, Breakdown: o.breakdown, Calls: o.trace.path != "", Group: a.Group(),
	}
	attribution, err := o.attributionOf(a, c, in, s.Machine, options)
	if err != nil {
		return err
	}
	result, err := scenario.Simulate(a, c, in, s.Machine, options)
	if err != nil {
		return o.failTogether(a, err)
	}
	job, err := recordJob(a, c, result.Together)
	if err != nil {
		return err
	}
	if !a.IsFirst() {
		return env.ErrNotNeeded
	}
	noteJob(a, job)
	options.Group = nil
	o.warnOfVoid(a, c, in, result)
	if err := a.Postpone(o.trace.write(a, c, result, missingOf(in))); err != nil {
		return err
	}
	report := &simulation{runDocument{
		Input: in.Name, Ranks: len(result.Finish), Model: options.Model, Noise: o.Noise.Name(), NoiseClock: o.Noise.OtherClock(), Result: *result,
		Attribution: attribution, Missing: missingOf(in),
	}, s.Machine, func() (plot.Figure, error) { return o.figure(c, in, s.Machine, options, result) }}
	if o.Program.Mapped(in) {
		report.Mapping = o.Mapping
	}
	if o.result.IsJSON() {
		report.Breakdown = newBreakdown(result.Ranks)
		if report.Provenance, err = s.Provenance(in); err != nil {
			return err
		}
		if job != nil {
			report.Provenance.Cluster = job
		}
	}
	return a.WriteResult("simulate", report, &o.result, inputs)
}

// checkOutputs finds out early that something cannot be written: before a long run, not after it.
func (o *simulateOptions) checkOutputs(word string, inputs []string) error {
	if err := o.trace.check(word, o.many()); err != nil {
		return err
	}
	if err := o.result.Check(inputs, env.To("resume", o.replicas.resume)); err != nil {
		return err
	}
	return o.checkOffsetsOut()
}

// warnOfVoid warns of flags that were given but had no influence, and of what
// warnOfInput finds.
func (o *simulateOptions) warnOfVoid(a *env.Env, c *cobra.Command, in *input.Input, r *simulate.Result) {
	fs := c.Flags()
	if o.Machine.Eager.Given && r.Queues.Rendezvous == 0 {
		a.Warn("-S has no influence: no message is larger, apart from buffered ones")
	}
	if o.breakdown && len(r.Ranks) == 0 {
		a.Warn("--breakdown has no influence: the model %s does not tell where the time goes", o.Machine.Model())
	}
	if fs.Changed("threads") && o.threads > 1 && r.Threads == 1 && in.Program.Ranks() > 1 {
		a.Warn("--threads has no influence: the engine %s runs this on one thread", r.Engine)
	}
	o.warnOfInput(a, c, in)
}

// warnOfInput warns of a mapping without influence, and of inputs for which the
// model is known to be wrong.
func (o *simulateOptions) warnOfInput(a *env.Env, c *cobra.Command, in *input.Input) {
	o.Program.WarnOfMapping(a, c, in)
	if in.Pattern != "" {
		params := o.Program.Params(c.Flags())
		params.Ranks = slices.Max(o.Program.Ranks)
		a.WarnAll(pattern.Cautions(in.Pattern, params))
	}
}
