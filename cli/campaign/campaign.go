// Package campaign is the verb campaign: it plans, runs and collects series of runs.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/check"
	"slackline/cli/datasets"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/scaling"
	"slackline/internal/cluster"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/model/dataset"
	"slackline/observe/campaign"
	"slackline/observe/mpi"
)

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "campaign", Group: env.Observe, Job: env.FirstOnly, New: command,
	Documents: env.Documents{"campaign-status": {status{}}},
}

func command(a *env.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "campaign",
		Short: "Run a program over ranges of parameters, and collect what it measures.",
		Long: "Run a program over ranges of parameters as a plan says, in a random order, and collect its output into a dataset for " +
			"scaling and check. A campaign can be interrupted or killed at any moment: the next start goes on, loses no finished run and " +
			"repeats none.",
		Example: `  slackline campaign run plan.yaml
  slackline campaign status plan.yaml
  slackline campaign collect plan.yaml --out runs.json`,
		RunE: flags.NeedVerb,
	}
	run, supervise := campaignRunCommand(a), campaignSuperviseCommand()
	env.Shared.Assign(run)
	env.Outside.Assign(supervise)
	c.AddCommand(run, campaignStatusCommand(a), campaignCollectCommand(a), supervise)
	return c
}

// planHelp describes the argument.
const planHelp = "a plan in YAML: parameters, command, launcher, metrics"

// campaignOptions are the flags that all parts have.
type campaignOptions struct {
	dir     string
	dry     bool
	jobs    int
	dataset string
	result  env.ResultFlags
}

func (o *campaignOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.dir, "dir", "", "`directory` of the runs (default: beside the plan, with its name and the ending .runs)")
}

func campaignRunCommand(a *env.Env) *cobra.Command {
	o := &campaignOptions{}
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Carry out what is left of a plan, collect, and check if the plan says so.",
		Long: "Carry out what is left of a plan, collect the measurements into a dataset and, if the plan has check, check them; the " +
			"exit code is then that of check. Runs that failed are repeated at every start. The processes of an MPI job share the runs; " +
			"those on one host take turns, unless the plan or --jobs says otherwise, or the runs are computations of slackline whose time " +
			"is not measured.",
		Annotations: flags.Arguments("FILE", planHelp),
		Example: `  slackline campaign run plan.yaml
  slackline campaign run plan.yaml --dry-run
  srun -N 8 --ntasks-per-node 1 --mpi=pmix slackline campaign run plan.yaml`,
		Args: flags.ExactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args[0]) },
	}
	a.AddGroup(c, "Campaign", func(fs *pflag.FlagSet) {
		o.addFlags(fs)
		fs.BoolVar(&o.dry, "dry-run", false, "print the commands in their order, and run nothing")
		flags.AddNumber(fs, &o.jobs, "jobs", 0, flags.AtLeast(1),
			"`number` of runs at a time, in an MPI job on each host (default: as the plan says, else 1)")
		fs.StringVar(&o.dataset, "dataset", "", "collect into `FILE.json|jsonl|csv|txt` (default: as the plan says, else dataset.json in the "+
			"directory of the runs)")
	})
	return c
}

func campaignSuperviseCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "supervise DIR ATTEMPT",
		Short:  "Supervise one run; the campaign starts this itself.",
		Hidden: true,
		Args:   flags.ExactArgs("DIR", "ATTEMPT"),
		RunE:   func(_ *cobra.Command, args []string) error { return campaign.Supervise(args[0], args[1]) },
	}
}

func (o *campaignOptions) run(a *env.Env, cmd *cobra.Command, file string) error {
	if o.dry {
		if !a.IsFirst() {
			return env.ErrNotNeeded
		}
		return o.dryRun(a, file)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	options := campaign.Options{Self: []string{self, "campaign", "supervise"}, Name: flags.Tool, Jobs: o.jobs}
	if a.Launched {
		options.Group, options.Environment, options.Unbind = a.Group(), mpi.OutsideJob(os.Environ()), true
	}
	if !a.IsFirst() {
		if err := campaign.Help(cmd.Context(), options); err != nil {
			return err
		}
		return a.SharedDone(cmd.Context())
	}
	c, err := campaign.Open(file, o.dir)
	if err != nil {
		return err
	}
	defer c.Close()
	check, err := o.prepareCheck(cmd.Context(), c, file)
	if err != nil {
		return err
	}
	if err := o.checkDataset(c, file); err != nil { // before the runs, which take hours
		return err
	}
	summary, err := o.carryOut(a, cmd.Context(), c, options)
	if err != nil {
		return err
	}
	return o.finish(a, cmd, c, file, summary, check)
}

// datasetPath is the file into which the measurements are collected.
func (o *campaignOptions) datasetPath(c *campaign.Campaign, file string) string {
	switch {
	case o.dataset != "":
		return o.dataset
	case c.Plan.Dataset != "":
		return shortPath(besidePlan(file, c.Plan.Dataset))
	}
	return shortPath(filepath.Join(c.Dir, datasets.CampaignDataset))
}

// checkDataset finds out whether the measurements can be written.
func (o *campaignOptions) checkDataset(c *campaign.Campaign, file string) error {
	path := o.datasetPath(c, file)
	if _, err := scaling.DatasetFormat(path); err != nil {
		return err
	}
	return env.CheckOutputs(append(c.Files(), file), env.To("dataset", path))
}

// carryOut does what is left of the campaign, with the other processes of a job, which have nothing to do afterwards.
func (o *campaignOptions) carryOut(a *env.Env, ctx context.Context, c *campaign.Campaign, options campaign.Options) (*campaign.Summary,
	error) {
	a.Note("%s in the order of seed %d, kept in %s", phrase.Plural(len(c.States()), "run"), c.Seed, shortPath(c.Dir))
	line := a.StartProgress()
	options.Note = func(text string) { a.Say(text) }
	options.Progress = func(p campaign.Progress) { line.Report(func() string { return progressText(p) }) }
	options.Begin = func(t campaign.Team) { noteTeam(a, c, t) }
	summary, err := c.Run(ctx, options)
	line.Clear()
	if err == nil {
		err = a.SharedDone(ctx)
		a.Alone = a.Job.Several()
		return summary, err
	}
	if summary != nil && (errors.Is(err, context.Canceled) || errors.Is(err, cluster.ErrBroken)) {
		a.Note("%d of %d runs are finished; the same command goes on", summary.Done, summary.Total)
		if c.Plan.IsBatch() {
			a.Note("jobs that were submitted stay in the queue, and the next start takes them over; remove the others by their names, slackline-...")
		}
	}
	return summary, err
}

// noteTeam says how the processes of a job share the runs.
func noteTeam(a *env.Env, c *campaign.Campaign, t campaign.Team) {
	switch {
	case t.Processes < 2:
	case c.Plan.IsBatch():
		a.Warn("the runs are jobs of a batch system: of %d processes one submits them all, and the rest wait", t.Processes)
	case t.AtATime() == t.Hosts:
		a.Note("%s: one on each host, so that they do not disturb each other; --jobs allows more", t.String())
	default:
		a.Note("%s", t.String())
	}
}

// progressText says how far a campaign is.
func progressText(p campaign.Progress) string {
	text := fmt.Sprintf("%d of %d runs, %d at work", p.Done, p.Total, p.Running)
	if n := len(p.Queued); n > 0 {
		text += fmt.Sprintf(", of them %d in the queue (%s)", n, strings.Join(slices.Compact(slices.Clone(p.Queued)), "; "))
	}
	if p.Failed > 0 {
		text += fmt.Sprintf(", %d failed", p.Failed)
	}
	if p.Left > 0 {
		text += fmt.Sprintf(", about %v left", p.Left.Round(time.Second))
	}
	return text
}

// shortPath shows a path below the working directory without that.
func shortPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(short) {
		return short
	}
	return path
}

// besidePlan is a file that a plan names, relative to where the plan is.
func besidePlan(plan, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(plan), name)
}

// prepareCheck finds the expectations before anything is run.
func (o *campaignOptions) prepareCheck(ctx context.Context, c *campaign.Campaign, file string) (string, error) {
	word := c.Plan.Check
	if word == "" {
		return "", nil
	}
	if path := besidePlan(file, word); word != check.BuiltIn || datasets.FileExists(path) {
		word = path
	}
	return word, (&check.Report{}).ReadExpectations(ctx, word, nil)
}

// finish collects, checks and sums up.
func (o *campaignOptions) finish(a *env.Env, cmd *cobra.Command, c *campaign.Campaign, file string, s *campaign.Summary,
	check string) error {
	fmt.Fprintf(a.Stdout, "%d of %d runs finished, %d now; %s so far\n", s.Done, s.Total, s.Executed, coreTime(c.Used()))
	if s.Unaffordable > 0 {
		a.Warn("the budget of %g core hours does not suffice for %s; raise it and start again", c.Plan.Budget, phrase.Plural(s.Unaffordable,
			"further run"))
	}
	path := o.datasetPath(c, file)
	partly := check != "" && s.Done < s.Total && len(s.Failed) == 0
	if partly {
		a.Warn("%d of %s are missing: the check of %s is inconclusive", s.Total-s.Done, phrase.Plural(s.Total, "run"), check)
	}
	if s.Done > 0 {
		d, record, err := collect(a, c, file)
		if err != nil {
			return err
		}
		if err := scaling.WriteDataset(a, path, []string{file}, d, record); err != nil {
			return err
		}
		if check != "" {
			fmt.Fprintln(a.Stdout)
			err = checkCollected(a, cmd, check, path)
		}
		if err != nil {
			return err
		}
	}
	if n := len(s.Failed); n > 0 {
		return fmt.Errorf("%d of %d runs failed; see 'slackline campaign status %s', repair, and start again", n, s.Total, file)
	}
	if partly {
		return exit.Verdict(exit.Inconclusive)
	}
	return nil
}

// collect reads the outputs of the finished runs of a plan, and says where they come from.
func collect(a *env.Env, c *campaign.Campaign, file string) (*dataset.Dataset, *provenance.Record, error) {
	d, err := c.Collect()
	if err != nil {
		return nil, nil, err
	}
	a.WarnAll(d.Warnings)
	in, err := input.RecordFile(file, "plan of a campaign")
	if err != nil {
		return nil, nil, err
	}
	return d, a.Record(in), nil
}

// checkCollected is slackline check EXPECTATIONS DATASET.
func checkCollected(a *env.Env, cmd *cobra.Command, expectations, data string) error {
	return check.NewOptions().Run(a, cmd, []string{expectations, data})
}
