// Package waits is the verb waits: it finds wait states and their root causes.
package waits

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/scenario"
	"slackline/internal/phrase"
	"slackline/model/unit"
	"slackline/show/tables"
)

// waitsOptions are the flags of waits.
type waitsOptions struct {
	run      scenario.RunOptions
	share    string
	top      int
	explain  int
	of       scenario.RankList // explained
	critical bool
	forward  bool
	output   env.ResultFlags
	cube     string
}

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "waits", Group: env.Analyze, Job: env.Shared, New: command,
	Documents: env.Documents{"waits": {document{}}},
}

func command(a *env.Env) *cobra.Command {
	o := &waitsOptions{}
	c := &cobra.Command{
		Use:   "waits INPUT",
		Short: "Find out who waits in a run, and what causes it.",
		Long: "Find the wait states of a run: late senders and receivers, waits in collectives, at OpenMP barriers, idle threads. " +
			"Charge every second to its cause: the call path and rank that made others wait, directly (short) or through further waits (long). " +
			"'slackline explain' says what the metrics mean.",
		Annotations: flags.Arguments("INPUT", scenario.RunHelp),
		Example: `  slackline waits traces.otf2
  slackline waits traces.otf2 --explain --critical-path
  slackline waits huge.slt --forward
  slackline waits traces.otf2 --grid 16x16 --plot waits.svg
  slackline waits app.slt --machine chic --balance solve/fixup
  slackline waits halo2d --ranks 1024 --machine chic --noise 1000Hz:10us
  slackline waits traces.otf2 --format json --out waits.json
  mpirun -n 16 slackline waits big.slt`,
		Args: flags.ExactArgs("INPUT"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.FasterAlone(c, o.share, func() error { return o.execute(a, c, args[0]) })
		},
	}
	a.AddGroup(c, "Questions", o.addQuestionFlags)
	a.AddGroup(c, "What if (the run is simulated)", o.run.Future.AddChangeFlags)
	a.AddGroup(c, "Output", o.addOutputFlags)
	o.run.AddTo(a, c)
	flags.CompleteWith(c, "balance-by", whatif.Strategies)
	return c
}

func (o *waitsOptions) addQuestionFlags(fs *pflag.FlagSet) {
	flags.AddNumber(fs, &o.explain, "explain", 0, flags.AtLeast(0),
		"say why the largest waits happened, this `number` of them (3 if none is given)")
	fs.Lookup("explain").NoOptDefVal = "3"
	fs.Var(&o.of, "explain-ranks", "explain waits of these `ranks` only, e.g. 7 or 0..3")
	fs.BoolVar(&o.critical, "critical-path", false, "show what the run time consists of: the critical path of the run as it was")
	fs.BoolVar(&o.forward, "forward", false, "find the waits but not their causes: a quick look at a large trace, in half of the "+
		"time of the analysis")
}

func (o *waitsOptions) addOutputFlags(fs *pflag.FlagSet) {
	flags.AddNumber(fs, &o.top, "top", 6, flags.AtLeast(0), "`number` of rows in each list of the text output; 0: all")
	o.output.AddFlags(fs, "form of the output")
	env.AddShare(fs, &o.share, "the analysis of a recorded run")
	o.output.AddPlot(fs, "draw maps of waits and delays by rank into `FILE.svg|png`")
	fs.StringVar(&o.cube, "cube", "", "also write the result for the Cube viewer into `FILE.cubex`")
}

func (o *waitsOptions) execute(a *env.Env, c *cobra.Command, word string) error {
	if o.forward && (o.explain > 0 || len(o.of.List) > 0 || o.cube != "") {
		return exit.Usagef("--forward does not look for causes, which --explain, --explain-ranks and --cube need; leave one of them out")
	}
	inputs := o.run.Future.Files(word)
	if err := o.output.Check(inputs, env.To("cube", o.cube)); err != nil {
		return err
	}
	o.output.WarnOfTable(a, c, "explain", "explain-ranks", "critical-path")
	r, err := o.run.OpenRun(a, c, word, o.output.IsJSON())
	if err != nil {
		return err
	}
	report, err := o.analyze(a, c, r)
	if err != nil {
		return err
	}
	if o.cube != "" {
		if err := report.writeCube(a, o.cube, inputs); err != nil {
			return err
		}
	}
	return a.WriteResult("waits", report, &o.output, inputs)
}

// analyze finds the wait states of a run and what else the flags ask for.
func (o *waitsOptions) analyze(a *env.Env, c *cobra.Command, r *scenario.Run) (*waitsReport, error) {
	begin := time.Now()
	result, err := waits.Analyze(c.Context(), r.Timeline, waits.Options{Threads: o.run.Threads, Forward: o.forward})
	if err != nil {
		return nil, err
	}
	a.Note("%s analyzed in %s, %s", phrase.Plural(result.States, "wait state"), unit.Elapsed(time.Since(begin)), phrase.Plural(o.run.Threads,
		"thread"))
	if a.Group().Size() > 1 && !o.forward {
		a.Note("costs were handed from process to process in %s", phrase.Plural(result.Rounds(), "round"))
	}
	if result.Cyclic > 0 {
		a.Warn("%s, so the clocks are wrong; part of their costs stays without cause", phrase.Circles(result.Cyclic))
	}
	report := &waitsReport{run: r, result: result, options: o}
	if o.critical {
		if report.critical, err = result.FindCriticalPath(c.Context()); err != nil {
			return nil, err
		}
	}
	if len(o.of.List) > 0 && o.explain == 0 {
		o.explain = 3
	}
	if o.explain > 0 {
		explained := result.LongestWaits(o.of.List)
		if len(explained) == 0 {
			who := "no rank waits"
			if len(o.of.List) > 0 {
				who = "these ranks do not wait"
			}
			a.Warn("nothing to explain: %s", who)
		}
		if report.explanations, err = result.FindExplanations(c.Context(), explained[:min(o.explain, len(explained))]); err != nil {
			return nil, err
		}
	}
	if o.cube != "" || o.output.IsJSON() {
		report.profile = result.Profile()
		if err := report.profile.Gather(c.Context()); err != nil {
			return nil, err
		}
	}
	if err := a.SharedDone(c.Context()); err != nil {
		return nil, err
	}
	return report, nil
}

// waitsReport is a result with everything that its output names.
type waitsReport struct {
	run          *scenario.Run
	result       *waits.Result
	critical     *waits.CriticalPath
	explanations []*waits.Explanation
	profile      *profile.Profile // nil: neither JSON nor Cube needs it
	options      *waitsOptions
}

func (r *waitsReport) Rows(*env.Env) env.Rows { return tables.EachWait(r.result) }
