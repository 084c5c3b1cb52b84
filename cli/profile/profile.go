// Package profile is the verb profile: it shows where the time of a run goes.
package profile

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/scenario"
	"slackline/model/unit"
	"slackline/show/figures"
	"slackline/show/tables"
)

// The figures of a profile.
const (
	profileAuto       = "auto"
	profileMatrix     = "matrix"
	profileRanks      = "ranks"
	profileIterations = "iterations"
	profileCollective = "collectives"
	profileSizes      = "sizes"
)

// profileOptions are the flags of profile.
type profileOptions struct {
	run    scenario.RunOptions
	share  string
	ideal  string
	top    int
	byRank bool
	result env.ResultFlags
	kind   string
}

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "profile", Group: env.Analyze, Job: env.Shared, New: command,
	Documents: env.Documents{"profile": {document{}}},
}

func command(a *env.Env) *cobra.Command {
	o := &profileOptions{}
	c := &cobra.Command{
		Use:   "profile INPUT",
		Short: "Find out where the time of a run goes: by call path, kind of activity, message and iteration.",
		Long: "Show what a run consists of (computation, MPI, waiting, OpenMP, idle threads), its efficiencies, its counters, the call paths " +
			"that take the most time, messages, collectives, and how iterations develop where the program repeats itself.",
		Annotations: flags.Arguments("INPUT", scenario.RunHelp),
		Example: `  slackline profile traces.otf2
  slackline profile traces.otf2 --plot matrix.svg --plot-kind matrix
  slackline profile traces.otf2 --by-rank --format csv --out profile.csv
  mpirun -n 16 slackline profile big.slt`,
		Args: flags.ExactArgs("INPUT"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.FasterAlone(c, o.share, func() error { return o.execute(a, c, args[0]) })
		},
	}
	a.AddGroup(c, "Output", o.addOutputFlags)
	o.run.AddTo(a, c)
	return c
}

func (o *profileOptions) addOutputFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.ideal, "ideal", "", "run time on an ideal network, for serialization and transfer efficiency: a `TIME|simulate`; "+
		"simulate: replay the run on one (default: an estimate from the waits)")
	flags.AddNumber(fs, &o.top, "top", 10, flags.AtLeast(0), "`number` of rows in each list of the text output; 0: all")
	fs.BoolVar(&o.byRank, "by-rank", false, "call paths by rank in JSON and CSV, not only summed")
	o.result.AddFlags(fs, "form of the output")
	env.AddShare(fs, &o.share, "the analysis of a recorded run")
	o.result.AddPlot(fs, "draw a figure into `FILE.svg|png`")
	flags.AddChoice(fs, &o.kind, "plot-kind", "what to draw: who sends how much to whom, times by rank, iterations, collectives over time, "+
		"sizes of messages, or what fits the run", profileAuto, profileAuto, profileMatrix, profileRanks, profileIterations,
		profileCollective, profileSizes)
}

func (o *profileOptions) execute(a *env.Env, c *cobra.Command, word string) error {
	if o.result.Plot == "" && o.kind != profileAuto {
		return exit.Usagef("--plot-kind needs --plot FILE")
	}
	inputs := o.run.Future.Files(word)
	if err := o.result.Check(inputs); err != nil {
		return err
	}
	o.result.WarnOfTable(a, c, "ideal")
	if o.result.Format == env.FormatText {
		a.WarnOfVoid(c, " on the text; json and csv have its answer", "by-rank")
	}
	r, err := o.run.OpenRun(a, c, word, o.result.IsJSON())
	if err != nil {
		return err
	}
	report, err := profileRun(c, r, o.run.Threads)
	if err != nil {
		return err
	}
	if err := a.SharedDone(c.Context()); err != nil {
		return err
	}
	report.options = o
	ideal, err := o.idealTime(a, c, word)
	if err != nil {
		return err
	}
	report.efficiency = report.profile.Efficiency(ideal, report.waiting)
	return a.WriteResult("profile", report, &o.result, inputs)
}

// idealSimulated is the word for the run time of a replay on an ideal network.
const idealSimulated = "simulate"

// idealTime is the run time on an ideal network as the flag says; 0: not at all.
func (o *profileOptions) idealTime(a *env.Env, c *cobra.Command, word string) (unit.Duration, error) {
	switch o.ideal {
	case "":
		return 0, nil
	case idealSimulated:
		return o.run.Future.IdealTime(a, c, word)
	}
	d, err := unit.ParseDuration(o.ideal)
	if err != nil {
		return 0, exit.Usagef("--ideal: %v; or give the word %s", err, idealSimulated)
	}
	return d, nil
}

// profileReport is a profile with everything that its output names.
type profileReport struct {
	run         *scenario.Run
	profile     *profile.Profile
	waits       *waits.Result
	waiting     []profile.WaitTime
	composition *profile.Composition
	efficiency  *profile.Efficiency
	counts      *profile.Counts // nil: nothing was counted
	iterations  *profile.Iterations
	options     *profileOptions
}

// profileRun makes the profile of a run and finds its waits.
func profileRun(c *cobra.Command, r *scenario.Run, threads int) (*profileReport, error) {
	found, err := waits.Analyze(c.Context(), r.Timeline, waits.Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	p := &profileReport{run: r, waits: found, profile: found.Profile()}
	if err := p.profile.Gather(c.Context(), profile.TimeParts, figures.CollectiveParts); err != nil {
		return nil, err
	}
	p.waiting = found.WaitTimes()
	p.composition = p.profile.Composition(p.waiting)
	p.counts = p.profile.Counts(p.waiting)
	p.iterations, err = found.Iterations(c.Context(), p.profile)
	return p, err
}

func (r *profileReport) Rows(*env.Env) env.Rows {
	return tables.EachPath(r.profile, r.waits.Unanalyzed, r.options.byRank)
}
