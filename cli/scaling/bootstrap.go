package scaling

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/cluster"
	"slackline/internal/phrase"
	"slackline/show/figures"
)

// ResampleOptions are the flags of scaling and check that resample measurements.
type ResampleOptions struct {
	Times int
	Seed  uint64
}

func (o *ResampleOptions) AddFlags(fs *pflag.FlagSet, help string) {
	flags.AddNumber(fs, &o.Times, "bootstrap", 0, flags.Between(leastResamples, mostResamples), help)
	fs.Uint64Var(&o.Seed, "seed", 0, "`seed` of --bootstrap; equal seeds give equal results")
}

// The numbers of resamples that are possible: intervals of 95 % need some, and more take too long.
const (
	leastResamples = 40
	mostResamples  = 1_000_000
)

func (o *ResampleOptions) Check(c *cobra.Command) error {
	if c.Flags().Changed("seed") && !c.Flags().Changed("bootstrap") {
		return exit.Usagef("--seed needs --bootstrap")
	}
	return nil
}

// Resampling are the options of the analysis, with progress.
func (o *ResampleOptions) Resampling(a *env.Env, threads int) (how scaling.Resampling, end func()) {
	line := a.StartProgress()
	return scaling.Resampling{
		Resamples: o.Times, Seed: o.Seed, Threads: threads, Group: a.Group(),
		Progress: func(done, total int) {
			line.Report(func() string {
				return fmt.Sprintf("%s of %s resamples", phrase.Grouped(int64(done)), phrase.Grouped(int64(total)))
			})
		},
	}, line.Clear
}

// bootstrap resamples the data, together with the other processes of a job.
func (r *scalingReport) bootstrap(a *env.Env, c *cobra.Command) error {
	o := r.options
	if err := r.resample(a, c); err != nil {
		return err
	}
	a.Alone = a.Job.Several() // the others are done
	a.Note("%s of each series with seed %d", phrase.Plural(o.bootstrap.Times, "resample"), o.bootstrap.Seed)
	return nil
}

// resample is the part of the bootstrap that the processes share. Process 0 gives them the data.
func (r *scalingReport) resample(a *env.Env, c *cobra.Command) error {
	if a.Shares() {
		if err := cluster.BroadcastValue(c.Context(), a.Group(), &r.data); err != nil {
			return err
		}
	}
	options, err := r.modelOptions()
	if err != nil {
		return err
	}
	how, end := r.options.bootstrap.Resampling(a, r.options.threads)
	r.resampled, err = scaling.Resample(c.Context(), r.data, options, how)
	end()
	if err != nil {
		return err
	}
	return a.SharedDone(c.Context())
}

// bootstrapColumns are the columns of resampling in a table for programs.
func (r *scalingReport) bootstrapColumns() []string {
	columns := []string{"same_lead", "lead_low", "lead_high", "coefficient", "coefficient_low", "coefficient_high"}
	if r.place != nil {
		columns = append(columns, "predicted_low", "predicted_high")
	}
	return columns
}

// bootstrapCells are the cells in these columns.
func (r *scalingReport) bootstrapCells(i int) []any {
	b := r.resampled[i]
	if b == nil {
		return make([]any, len(r.bootstrapColumns()))
	}
	const exact = "%g"
	low, high := r.leadInterval(b)
	cells := []any{
		b.Same, low, high, phrase.NumberCell(b.Coefficient, exact), phrase.NumberCell(b.Interval.Low, exact), phrase.NumberCell(b.Interval.High,
			exact),
	}
	if r.place != nil {
		p := b.Predict(r.place...)
		cells = append(cells, phrase.NumberCell(p.Low, exact), phrase.NumberCell(p.High, exact))
	}
	return cells
}

// leadInterval prints the ends of the interval of leads.
func (r *scalingReport) leadInterval(b *scaling.Bootstrap) (low, high string) {
	names := r.data.Parameters
	return scaling.Landau(names, b.LeadLow, scaling.Product), scaling.Landau(names, b.LeadHigh, scaling.Product)
}

// writeBootstrap writes what resampling says about the models, as a table.
func (r *scalingReport) writeBootstrap(a *env.Env, w io.Writer) {
	if !slices.ContainsFunc(r.resampled, func(b *scaling.Bootstrap) bool { return b != nil }) {
		return
	}
	title := fmt.Sprintf("How sure it is, by %s with seed %d", phrase.Plural(r.options.bootstrap.Times, "resample"), r.options.bootstrap.Seed)
	fmt.Fprintf(w, "\n%s\n", a.Bold(title))
	columns := []string{"callpath=call path", "metric", "lead", ">same=same lead", "leads=95 % of leads", ">coefficient",
		"interval=95 % interval"}
	if r.place != nil {
		columns = append(columns, ">predicted=at "+figures.PlaceText(r.data.Parameters, r.place), "range=95 % interval")
	}
	t := phrase.PathTable(append(columns, "others=other leads")...)
	for i, b := range r.resampled {
		if b == nil {
			continue
		}
		f := r.models[i].Fit
		low, high := r.leadInterval(b)
		leads := low
		if high != low {
			leads += ".." + high
		}
		cells := []any{
			f.CallPath, f.Metric, f.Landau(), fmt.Sprintf("%.0f %%", 100*b.Same), leads, phrase.NumberCell(b.Coefficient, "%.4g"),
			phrase.Interval(b.Interval.Low, b.Interval.High),
		}
		if r.place != nil {
			p := b.Predict(r.place...)
			cells = append(cells, phrase.NumberCell(f.Model.Eval(r.place...), "%.4g"), phrase.Interval(p.Low, p.High))
		}
		t.Add(append(cells, otherLeads(f, b))...)
	}
	a.WriteText(w, t, true)
}

// otherLeads are the leads that resamples have most often beside that of the model.
func otherLeads(f *scaling.Fit, b *scaling.Bootstrap) string {
	const most, least = 3, 0.005
	var list []string
	for _, l := range b.Leads {
		text := scaling.Landau(f.Parameters, l.Leads, l.Form)
		if text != f.Landau() && l.Share >= least && len(list) < most {
			list = append(list, fmt.Sprintf("%s %.0f %%", text, 100*l.Share))
		}
	}
	return strings.Join(list, ", ")
}
