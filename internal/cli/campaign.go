package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/cluster"
	"slackline/internal/input"
	"slackline/internal/provenance"
	"slackline/model/dataset"
	"slackline/observe/campaign"
	"slackline/observe/mpi"
)

func (a *app) campaignCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "campaign",
		Short: "Run a program over ranges of parameters, and collect what it measures.",
		Long: "Run a program over ranges of parameters as a plan says, in a random order, and collect its output into a dataset for scaling and check. " +
			"A campaign can be interrupted or killed at any moment: the next start goes on, loses no finished run and repeats none.",
		Example: `  slackline campaign run plan.yaml
  slackline campaign status plan.yaml
  slackline campaign collect plan.yaml --out runs.json`,
		RunE: a.needVerb,
	}
	c.AddCommand(a.campaignRunCommand(), a.campaignStatusCommand(), a.campaignCollectCommand(), a.campaignSuperviseCommand())
	return c
}

// campaignDataset is the file in the directory of the runs into which they are collected.
const campaignDataset = "dataset.json"

// planHelp describes the argument.
const planHelp = "a plan in YAML: parameters, command, launcher, metrics"

// campaignOptions are the flags that all parts have.
type campaignOptions struct {
	dir     string
	dry     bool
	jobs    int
	dataset string
	format  choice
	out     string
}

func (o *campaignOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.dir, "dir", "", "`directory` of the runs (default: beside the plan, with its name and the ending .runs)")
}

func (a *app) campaignRunCommand() *cobra.Command {
	o := &campaignOptions{}
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Carry out what is left of a plan, collect, and check if the plan says so.",
		Long: "Carry out what is left of a plan, collect the measurements into a dataset and, if the plan has check, check them; the exit code is then that of check. " +
			"Runs that failed are tried anew at every start. The processes of an MPI job share the runs; those on one host take turns, unless the plan or --jobs " +
			"says otherwise, or the runs are computations of slackline whose time is not measured.",
		Annotations: arguments("FILE", planHelp),
		Example: `  slackline campaign run plan.yaml
  slackline campaign run plan.yaml --dry-run
  srun -N 8 --ntasks-per-node 1 --mpi=pmix slackline campaign run plan.yaml`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args[0]) },
	}
	a.addGroup(c, "Campaign", func(fs *pflag.FlagSet) {
		o.addFlags(fs)
		fs.BoolVar(&o.dry, "dry-run", false, "print the commands in their order, and run nothing")
		fs.IntVar(&o.jobs, "jobs", 0, "`number` of runs at a time, in an MPI job on each host (default: as the plan says, else 1)")
		fs.StringVar(&o.dataset, "dataset", "", "collect into `FILE.json|jsonl|csv|txt` (default: as the plan says, else dataset.json in the directory of the runs)")
	})
	return c
}

func (a *app) campaignSuperviseCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "supervise DIR ATTEMPT",
		Short:  "Supervise one run; the campaign starts this itself.",
		Hidden: true,
		Args:   exactArgs("DIR", "ATTEMPT"),
		RunE:   func(_ *cobra.Command, args []string) error { return campaign.Supervise(args[0], args[1]) },
	}
}

func (o *campaignOptions) run(a *app, cmd *cobra.Command, file string) error {
	if cmd.Flags().Changed("jobs") && o.jobs < 1 {
		return usagef("--jobs: %d is too few; give 1 or more", o.jobs)
	}
	if o.dry {
		if !a.isFirst() {
			return errNotNeeded
		}
		return o.dryRun(a, file)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	options := campaign.Options{Self: []string{self, "campaign", "supervise"}, Name: toolName, Jobs: o.jobs}
	if a.launched {
		options.Group, options.Environment, options.Unbind = a.group(), mpi.OutsideJob(os.Environ()), true
	}
	if !a.isFirst() {
		if err := campaign.Help(cmd.Context(), options); err != nil {
			return err
		}
		return a.sharedDone(cmd.Context())
	}
	c, err := campaign.Open(file, o.dir)
	if err != nil {
		return err
	}
	defer c.Close()
	check, err := o.prepareCheck(c, file)
	if err != nil {
		return err
	}
	summary, err := o.carryOut(a, cmd.Context(), c, options)
	if err != nil {
		return err
	}
	return o.finish(a, cmd, c, file, summary, check)
}

// carryOut does what is left of the campaign, with the other processes of a job, which have nothing to do afterwards.
func (o *campaignOptions) carryOut(a *app, ctx context.Context, c *campaign.Campaign, options campaign.Options) (*campaign.Summary, error) {
	a.note("%s in the order of seed %d, kept in %s", plural(len(c.States()), "run"), c.Seed, shortPath(c.Dir))
	line := a.startProgress()
	options.Note = func(text string) { a.say(text) }
	options.Progress = func(p campaign.Progress) { line.Report(func() string { return progressText(p) }) }
	options.Begin = func(t campaign.Team) { noteTeam(a, c, t) }
	summary, err := c.Run(ctx, options)
	line.Clear()
	if err == nil {
		err = a.sharedDone(ctx)
		a.alone = a.job.several()
		return summary, err
	}
	if summary != nil && (errors.Is(err, context.Canceled) || errors.Is(err, cluster.ErrBroken)) {
		a.note("%d of %d runs are finished; the same command goes on", summary.Done, summary.Total)
		if c.Plan.IsBatch() {
			a.note("jobs that were submitted stay in the queue, and the next start takes them over; remove the others by their names, slackline-...")
		}
	}
	return summary, err
}

// noteTeam says how the processes of a job share the runs.
func noteTeam(a *app, c *campaign.Campaign, t campaign.Team) {
	switch {
	case t.Processes < 2:
	case c.Plan.IsBatch():
		a.warn("the runs are jobs of a batch system: of %d processes one submits them all, and the rest wait", t.Processes)
	case t.AtATime() == t.Hosts:
		a.note("%s: one on each host, so that they do not disturb each other; --jobs allows more", t.String())
	default:
		a.note("%s", t.String())
	}
}

// progressText says how far a campaign is.
func progressText(p campaign.Progress) string {
	text := fmt.Sprintf("%d of %d runs, %d at work", p.Done, p.Total, p.Running)
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
func (o *campaignOptions) prepareCheck(c *campaign.Campaign, file string) (string, error) {
	word := c.Plan.Check
	if word == "" {
		return "", nil
	}
	if path := besidePlan(file, word); word != builtIn || fileExists(path) {
		word = path
	}
	return word, (&checkReport{}).readExpectations(word)
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// finish collects, checks and sums up.
func (o *campaignOptions) finish(a *app, cmd *cobra.Command, c *campaign.Campaign, file string, s *campaign.Summary, check string) error {
	fmt.Fprintf(a.stdout, "%d of %d runs finished, %d now; %.4g core hours so far\n", s.Done, s.Total, s.Executed, c.Used())
	if s.Unaffordable > 0 {
		a.warn("the budget of %g core hours does not suffice for %s; raise it and start again", c.Plan.Budget, plural(s.Unaffordable, "further run"))
	}
	path := o.dataset
	if path == "" {
		path = filepath.Join(c.Dir, campaignDataset)
		if c.Plan.Dataset != "" {
			path = besidePlan(file, c.Plan.Dataset)
		}
		path = shortPath(path)
	}
	partly := check != "" && s.Done < s.Total && len(s.Failed) == 0
	if partly {
		a.warn("%d of %s are missing: the check of %s is inconclusive", s.Total-s.Done, plural(s.Total, "run"), check)
	}
	if s.Done > 0 {
		d, record, err := collect(a, c, file)
		if err != nil {
			return err
		}
		if err := a.writeDataset(path, []string{file}, d, record); err != nil {
			return err
		}
		if check != "" {
			fmt.Fprintln(a.stdout)
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
		return verdictError(exitUnsure)
	}
	return nil
}

// collect reads the outputs of the finished runs of a plan, and says where they come from.
func collect(a *app, c *campaign.Campaign, file string) (*dataset.Dataset, *provenance.Record, error) {
	d, err := c.Collect()
	if err != nil {
		return nil, nil, err
	}
	for _, w := range d.Warnings {
		a.warn("%s", w)
	}
	in, err := input.RecordFile(file, "plan of a campaign")
	if err != nil {
		return nil, nil, err
	}
	p := a.provenance()
	p.Inputs = append(p.Inputs, in)
	p.Warnings = append(p.Warnings, a.warnings...)
	return d, p, nil
}

// checkCollected is slackline check EXPECTATIONS DATASET.
func checkCollected(a *app, cmd *cobra.Command, expectations, data string) error {
	o := &checkOptions{aggregate: newChoice(aggregateWords[0], aggregateWords...), format: newChoice(formatText, checkFormats...)}
	return o.run(a, cmd, []string{expectations, data})
}
