package campaign

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/cli/scaling"
	"slackline/internal/phrase"
	"slackline/internal/stat"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/observe/campaign"
)

func campaignStatusCommand(a *env.Env) *cobra.Command {
	o := &campaignOptions{}
	c := &cobra.Command{
		Use:         "status FILE",
		Short:       "Say how far a campaign is, point by point, and what failed why.",
		Annotations: flags.Arguments("FILE", planHelp),
		Example: `  slackline campaign status plan.yaml
  slackline campaign status plan.yaml --format json`,
		Args: flags.ExactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return o.status(a, args[0]) },
	}
	a.AddGroup(c, "Campaign", o.addFlags)
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) { o.result.AddFlags(fs, "form of the output; JSON and CSV have all runs") })
	return c
}

func campaignCollectCommand(a *env.Env) *cobra.Command {
	o := &campaignOptions{}
	c := &cobra.Command{
		Use:         "collect FILE",
		Short:       "Collect what the finished runs measured into a dataset.",
		Annotations: flags.Arguments("FILE", planHelp),
		Example: `  slackline campaign collect plan.yaml --out runs.json
  slackline campaign collect plan.yaml | slackline scaling -`,
		Args: flags.ExactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return o.collect(a, args[0]) },
	}
	a.AddGroup(c, "Campaign", o.addFlags)
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		fs.StringVar(&o.result.Out, "out", "", "write into `FILE.json|jsonl|csv|txt` instead of JSON to the standard output")
	})
	return c
}

func (o *campaignOptions) collect(a *env.Env, file string) error {
	if err := env.CheckOut(o.result.Out, []string{file}); err != nil {
		return err
	}
	c, err := campaign.Load(file, o.dir)
	if err != nil {
		return err
	}
	inputs := o.inputs(c, file)
	if err := env.CheckOut(o.result.Out, inputs); err != nil {
		return err
	}
	d, record, err := collect(a, c, file)
	if err != nil {
		return err
	}
	warnOfFailed(a, c)
	if a.Stream(o.result.Out) != nil {
		return a.WriteOut(o.result.Out, nil, func(w io.Writer) error { return d.WriteJSON(w, record) })
	}
	return scaling.WriteDataset(a, o.result.Out, inputs, d, record)
}

// inputs are the files that are read for a result; empty: nothing is written to a file.
func (o *campaignOptions) inputs(c *campaign.Campaign, file string) []string {
	if o.result.Out == "" {
		return nil
	}
	return append(c.Files(), file)
}

// warnOfFailed counts the runs of which nothing is in the dataset.
func warnOfFailed(a *env.Env, c *campaign.Campaign) {
	states := c.States()
	left := len(c.Left())
	var failed []*campaign.RunState
	for i := range states {
		if r := &states[i]; !r.Done() && !r.Open && r.Last != nil {
			failed = append(failed, r)
		}
	}
	if len(failed) > 0 {
		a.Warn("%d of %s failed and are left out, the first is %s: %s", len(failed), phrase.Plural(len(states), "run"), failed[0].Name,
			failed[0].Last.Reason)
	}
	if n := left - len(failed); n > 0 {
		a.Warn("%d of %s are not finished yet", n, phrase.Plural(len(states), "run"))
	}
}

// dryRun prints the commands.
func (o *campaignOptions) dryRun(a *env.Env, file string) error {
	c, err := campaign.Load(file, o.dir)
	if err != nil {
		return err
	}
	return a.WriteOut("", nil, func(w io.Writer) error {
		for _, r := range c.Left() {
			fmt.Fprintf(w, "%s: %s\n", r.Name, campaign.Quote(c.Command(r)))
		}
		return nil
	})
}

type status struct {
	Directory string             `json:"directory"`
	Seed      uint64             `json:"seed"`
	Total     int                `json:"runs_total"`
	Done      int                `json:"runs_finished"`
	CoreHours float64            `json:"core_hours"`
	Runs      []run              `json:"runs"`
	Sessions  []campaign.Session `json:"sessions"`
}

type run struct {
	Run      string             `json:"run"`
	At       map[string]float64 `json:"at"`
	Attempts int                `json:"attempts"`
	State    string             `json:"state"` // left, running, or the status of the last attempt
	Last     *campaign.End      `json:"last,omitempty"`
}

// stateOf is the word for what a run is.
func stateOf(r *campaign.RunState) string {
	switch {
	case r.Open:
		return "running"
	case r.Last == nil:
		return "left"
	}
	return string(r.Last.Status)
}

func (o *campaignOptions) status(a *env.Env, file string) error {
	if err := o.result.Check([]string{file}); err != nil {
		return err
	}
	c, err := campaign.Load(file, o.dir)
	if err != nil {
		return err
	}
	return a.WriteResult("campaign status", &progress{c, c.States()}, &o.result, o.inputs(c, file))
}

// progress is how far a campaign is.
type progress struct {
	*campaign.Campaign
	states []campaign.RunState
}

func (c *progress) JSON(*env.Env) (any, error) {
	d := &status{Directory: c.Dir, Seed: c.Seed, Total: len(c.states), CoreHours: c.Used(), Sessions: c.Sessions()}
	for i := range c.states {
		r := &c.states[i]
		if r.Done() {
			d.Done++
		}
		d.Runs = append(d.Runs, run{r.Name, phrase.ByName(c.Plan.Names(), r.At), r.Attempts, stateOf(r), r.Last})
	}
	return d, nil
}

// Rows has a row for each run.
func (c *progress) Rows(*env.Env) env.Rows {
	t := table.Of("run", "state", "attempts", "exit", "wall_s", "cores", "host", "reason")
	for i := range c.states {
		r := &c.states[i]
		last := r.Last
		if last == nil {
			last = &campaign.End{}
		}
		t.Add(r.Name, stateOf(r), r.Attempts, last.Exit, last.Wall, r.Cores, last.Host, last.Reason)
	}
	return t
}

// Text writes a row for each point, and what failed.
func (c *progress) Text(a *env.Env, w io.Writer) {
	done := 0
	for i := range c.states {
		if c.states[i].Done() {
			done++
		}
	}
	fmt.Fprintf(w, "%d of %d runs finished, %s so far", done, len(c.states), coreTime(c.Used()))
	if c.Started() {
		fmt.Fprintf(w, ", seed %d", c.Seed)
	}
	fmt.Fprint(w, "\n\n")
	var columns []table.Column
	for _, name := range c.Plan.Names() {
		columns = append(columns, table.Column{Key: name, Align: table.Right})
	}
	t := table.New(append(columns, table.Columns(">finished", ">failed", ">running", ">left", ">median time")...)...)
	for first := 0; first < len(c.states); {
		end := first + 1
		for end < len(c.states) && slices.Equal(c.states[end].At, c.states[first].At) {
			end++
		}
		t.Add(pointRow(c.states[first:end])...)
		first = end
	}
	a.WriteText(w, t, true)
	for i := range c.states {
		if r := &c.states[i]; !r.Done() && r.Last != nil && !r.Open {
			fmt.Fprintf(w, "\n%s %s: %s; see %s", r.Name, stateOf(r), r.Last.Reason, shortPath(c.RunDir(r.Name)))
		}
	}
	fmt.Fprintln(w)
}

// coreTime is the time of all cores for people: in hours, or less than a hundredth of one in the unit that suits it.
func coreTime(hours float64) string {
	if hours >= 0.01 || hours == 0 {
		return fmt.Sprintf("%.4g core hours", hours)
	}
	return unit.Elapsed(time.Duration(hours*float64(time.Hour))) + " of all cores"
}

// pointRow are the cells of the runs of one point.
func pointRow(runs []campaign.RunState) []any {
	var done, failed, running, left int
	var times []float64
	for i := range runs {
		switch r := &runs[i]; {
		case r.Done():
			done++
			times = append(times, r.Last.Wall)
		case r.Open:
			running++
		case r.Last != nil:
			failed++
		default:
			left++
		}
	}
	var row []any
	for _, x := range runs[0].At {
		row = append(row, strconv.FormatFloat(x, 'g', -1, 64))
	}
	median := "-"
	if len(times) > 0 {
		slices.Sort(times)
		median = unit.Elapsed(time.Duration(stat.Quantile(times, 0.5) * float64(time.Second)))
	}
	return append(row, done, failed, running, left, median)
}
