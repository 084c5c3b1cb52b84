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

	"slackline/internal/input"
	"slackline/internal/provenance"
	"slackline/model/dataset"
	"slackline/observe/campaign"
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

// planHelp describes the argument.
const planHelp = "a plan in YAML: parameters, command, launcher, metrics"

// campaignOptions are the flags that all parts have.
type campaignOptions struct {
	dir     string
	dry     bool
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
			"Runs that failed are tried anew at every start.",
		Annotations: arguments("FILE", planHelp),
		Example: `  slackline campaign run plan.yaml
  slackline campaign run plan.yaml --dry-run`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args[0]) },
	}
	a.addGroup(c, "Campaign", func(fs *pflag.FlagSet) {
		o.addFlags(fs)
		fs.BoolVar(&o.dry, "dry-run", false, "print the commands in their order, and run nothing")
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
	if o.dry {
		return o.dryRun(a, file)
	}
	self, err := os.Executable()
	if err != nil {
		return err
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
	a.note("%s in the order of seed %d, kept in %s", plural(len(c.States()), "run"), c.Seed, shortPath(c.Dir))
	line := a.startProgress()
	summary, err := c.Run(cmd.Context(), campaign.Options{
		Self: []string{self, "campaign", "supervise"}, Name: toolName,
		Note:     func(text string) { a.say(text) },
		Progress: func(p campaign.Progress) { line.Report(func() string { return progressText(p) }) },
	})
	line.Clear()
	if err != nil {
		if summary != nil && errors.Is(err, context.Canceled) {
			a.note("%d of %d runs are finished; the same command goes on", summary.Done, summary.Total)
			if c.Plan.IsBatch() {
				a.note("jobs that were submitted stay in the queue, and the next start takes them over; remove the others by their names, slackline-...")
			}
		}
		return err
	}
	return o.finish(a, cmd, c, file, summary, check)
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
		path = filepath.Join(c.Dir, "dataset.json")
		if c.Plan.Dataset != "" {
			path = besidePlan(file, c.Plan.Dataset)
		}
		path = shortPath(path)
	}
	if s.Done > 0 {
		d, err := collect(a, c)
		if err != nil {
			return err
		}
		record, err := campaignRecord(a, file)
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
		return fmt.Errorf("%d of %d runs failed; see 'slackline campaign status %s', mend, and start again", n, s.Total, file)
	}
	return nil
}

// collect reads the outputs of the finished runs.
func collect(a *app, c *campaign.Campaign) (*dataset.Dataset, error) {
	d, err := c.Collect()
	if err != nil {
		return nil, err
	}
	for _, w := range d.Warnings {
		a.warn("%s", w)
	}
	return d, nil
}

func campaignRecord(a *app, file string) (*provenance.Record, error) {
	in, err := input.RecordFile(file, "plan of a campaign")
	if err != nil {
		return nil, err
	}
	p := provenance.New(a.args)
	p.Inputs = append(p.Inputs, in)
	p.Warnings = append(p.Warnings, a.warnings...)
	return p, nil
}

// checkCollected is slackline check EXPECTATIONS DATASET.
func checkCollected(a *app, cmd *cobra.Command, expectations, data string) error {
	o := &checkOptions{aggregate: newChoice(aggregateWords[0], aggregateWords...), format: newChoice(formatText, checkFormats...)}
	return o.run(a, cmd, []string{expectations, data})
}
