// Package advise is the verb advise: it says what to change first, and what that gains.
package advise

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/advise"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/scenario"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
)

// adviseOptions are the flags of advise.
type adviseOptions struct {
	scenario.Options
	repeated bool
	budget   flags.Time
	replicas int
	top      int
	threads  int
	result   env.ResultFlags
}

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "advise", Group: env.Analyze, Job: env.FirstOnly, New: command,
	Documents: env.Documents{"advise": {document{}}},
}

func command(a *env.Env) *cobra.Command {
	o := &adviseOptions{}
	c := &cobra.Command{
		Use:   "advise RUN...",
		Short: "Say what to change first, and what it gains: every change is tried by simulating the run again.",
		Long: "Look for changes that pay: balance or speed up a call path, take messages in another order, send or receive earlier, combine " +
			"messages, use collectives or other algorithms, " +
			"leave out barriers, place ranks differently, remove noise, a faster network. Bounds from the critical path and the waits choose what " +
			"is simulated; what is left is ranked by its gain, with an interval. " +
			"Each line comes with the command that shows it. 'slackline explain' says what each kind of change means.\n" +
			"Gains are those against the simulated run; how far that is from the measured one is reported, and nothing is ranked that gains less " +
			"than the noise of the measurement. " +
			"Without a machine, the parameters of the network are estimated from the messages of the run.\n" +
			"Two runs are taken as BEFORE and AFTER a change: advise then says which of the gains predicted for BEFORE came true. " +
			"Repetitions of a run are given as a list, a1,a2,a3, or as three runs or more: the one with the median run time is the " +
			"one that is changed.",
		Annotations: flags.Arguments("RUN", "a recorded run, or a pattern or schedule file with a machine; several with commas "+
			"between are repetitions"),
		Example: `  slackline advise app.slt
  slackline advise app.slt --machine cluster.yaml --budget 2min
  slackline advise run1.slt,run2.slt,run3.slt --machine cluster.yaml
  slackline advise before.slt after.slt
  slackline advise halo2d --ranks 64 --machine chic --noise 1000Hz:25us --replicas 10
  slackline advise app.slt --format json --out advice.json`,
		Args: flags.AtLeastOne("RUN"),
		RunE: func(c *cobra.Command, args []string) error { return o.execute(a, c, args) },
	}
	a.AddGroup(c, "Search", func(fs *pflag.FlagSet) {
		o.budget = flags.Time(30 * time.Second)
		fs.Var(&o.budget, "budget", "`time` for the search, e.g. 30s or 2min, after the run is read: changes that were "+
			"not tried by then are left out; 0: no limit")
		flags.AddNumber(fs, &o.replicas, "replicas", 5, flags.AtLeast(1),
			"`number` of runs with different noise from which intervals come, 1 or more")
		fs.BoolVar(&o.repeated, "repeated", false, "two runs are repetitions, not BEFORE and AFTER")
		flags.AddThreads(fs, &o.threads, runtime.GOMAXPROCS(0), "`number` of threads; the result does not depend on it")
	})
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		flags.AddNumber(fs, &o.top, "top", 8, flags.AtLeast(0), "`number` of changes in the text output; 0: all")
		o.result.AddFlags(fs, "form of the output")
	})
	a.AddGroup(c, "Machine (the run is simulated)", func(fs *pflag.FlagSet) {
		o.Machine.AddFlags(fs)
		o.Machine.AddModel(fs)
		scenario.AddMapping(fs, &o.Mapping)
	})
	a.AddGroup(c, "Noise", o.Noise.AddFlags)
	a.AddGroup(c, "Pattern, or what is made of a recorded run", o.Program.AddFlags)
	o.Program.GridOfRun = true
	o.Complete(c)
	c.ValidArgsFunction = scenario.CompleteInput
	return c
}

func (o *adviseOptions) execute(a *env.Env, c *cobra.Command, args []string) error {
	before, after, err := o.words(args)
	if err != nil {
		return err
	}
	all := append(append([]string{}, before...), after...)
	inputs := o.Files(all...)
	if err := o.result.Check(inputs); err != nil {
		return err
	}
	if err := o.Check(a, c, all...); err != nil {
		return err
	}
	report, failed := o.ask(a, c, before, after)
	if report == nil {
		return failed
	}
	if failed != nil {
		a.Warn("interrupted: %s not tried", phrase.Plural(report.Left, "change"))
	}
	if err := a.WriteResult("advise", report, &o.result, inputs); err != nil {
		return err
	}
	return failed
}

// words sorts the arguments: runs before a change and after it.
func (o *adviseOptions) words(args []string) (before, after []string, err error) {
	lists := make([][]string, len(args))
	for i, arg := range args {
		for word := range strings.SplitSeq(arg, ",") {
			if word == "" {
				return nil, nil, exit.Usagef("%q has an empty name between its commas", arg)
			}
			lists[i] = append(lists[i], word)
		}
	}
	if len(lists) == 2 && !o.repeated {
		return lists[0], lists[1], nil
	}
	for _, list := range lists {
		before = append(before, list...)
	}
	return before, nil, nil
}

// document is the JSON output of advise.
type document struct {
	Run      string   `json:"run"`
	Repeats  []string `json:"repetitions,omitempty"`
	Ranks    int      `json:"ranks"`
	Machine  string   `json:"machine"`
	Estimate string   `json:"estimated_machine,omitempty"` // flags of the machine that was estimated from the run
	advise.Result
	After      *advise.Verdict    `json:"after,omitempty"`
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

// report is a result with everything that its output names.
type report struct {
	document
	records []provenance.Input
	top     int // of the text output
}

// ask opens the runs and looks for advice. If it was interrupted, what was found so far comes with the error.
func (o *adviseOptions) ask(a *env.Env, c *cobra.Command, before, after []string) (*report, error) {
	runs, err := o.open(a, c, before, nil)
	if err != nil {
		return nil, err
	}
	first := runs[0]
	q := first.Question
	if q.Noise == nil {
		a.WarnOfVoid(c, " without --noise", "replicas")
	}
	if len(runs) == 1 {
		a.WarnOfVoid(c, ": there is one run", "repeated")
	}
	q.Replicas, q.Budget = o.replicas, time.Duration(o.budget)
	for _, r := range runs[1:] {
		q.Repeats = append(q.Repeats, advise.Repeat{Scenario: r.Scenario, Measured: r.Measured})
	}
	line := a.StartProgress()
	if line != nil {
		q.Progress = func(done, all int) {
			line.Report(func() string { return fmt.Sprintf("%s: %d of %d changes simulated", first.name, done, all) })
		}
	}
	result, failed := advise.Search(c.Context(), q)
	line.Clear()
	if result == nil {
		return nil, failed
	}
	if result.Left > 0 && failed == nil {
		a.Warn("%s not tried: the budget of %s was over; give more with --budget", phrase.Plural(result.Left, "change"), o.budget.String())
	}
	var repeats []string
	for _, run := range runs[1:] {
		repeats = append(repeats, run.name)
	}
	r := &report{top: o.top, document: document{Run: first.name, Repeats: repeats, Ranks: first.Program.Ranks(), Machine: first.Machine.Name,
		Estimate: first.estimate, Result: *result}}
	for _, run := range runs {
		r.records = append(r.records, run.record)
	}
	if len(after) > 0 && failed == nil {
		if failed = o.judge(a, c, r, first, after); failed != nil && !errors.Is(failed, context.Canceled) {
			return nil, failed
		}
	}
	return r, failed
}

// judge finds out which predictions came true.
func (o *adviseOptions) judge(a *env.Env, c *cobra.Command, r *report, first *run, after []string) error {
	now, err := o.open(a, c, after, first)
	if err != nil {
		return err
	}
	for _, run := range now {
		r.records = append(r.records, run.record)
	}
	r.After, err = advise.Judge(c.Context(), &r.Result, now[0].Scenario, now[0].Measured)
	return err
}
