package noise

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/model/noise"
	"slackline/model/unit"
)

// noiseStatsOptions are the flags of noise stats.
type noiseStatsOptions struct {
	result env.ResultFlags
	seed   uint64
	span   flags.Quantity[unit.Duration] // of the plot
}

func noiseStatsCommand(a *env.Env) *cobra.Command {
	o := &noiseStatsOptions{}
	c := &cobra.Command{
		Use:   "stats " + noiseArgument,
		Short: "Say what noise takes: serial overhead, rate, lengths, sources; draw its detours.",
		Long: "Say what noise takes: the serial overhead, the rate and the lengths of its detours, what the longest of them carry, and " +
			"the part of each source. Detours that overlap or touch count as one interruption, as a program sees them; sources count " +
			"theirs as they were given.",
		Annotations: noiseArguments(),
		Example: `  slackline noise stats chic
  slackline noise stats 1000Hz:100us+poisson:10Hz:pareto:1us:1.5 --plot detours.svg
  slackline noise stats osnoise.txt --format json --out node7.json`,
		Args: flags.ExactArgs(noiseArgument),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args[0]) },
	}
	a.AddGroup(c, "Flags", o.addFlags)
	c.ValidArgsFunction = flags.FirstOf(noise.Names)
	return c
}

func (o *noiseStatsOptions) addFlags(fs *pflag.FlagSet) {
	o.result.AddFlags(fs, "form of the output")
	fs.Uint64Var(&o.seed, "seed", 0, "`seed` of the random choices in the trace; equal seeds give equal traces")
	o.result.AddPlot(fs, "draw the length of every detour over time into `FILE.svg|png`")
	fs.Var(&o.span, "plot-time", "draw only this `time` from the start of the trace, e.g. 20s (default: all of it; repeated short "+
		"events several times)")
}

func (o *noiseStatsOptions) run(a *env.Env, c *cobra.Command, word string) error {
	switch {
	case o.span.Given && o.result.Plot == "":
		return exit.Usagef("--plot-time needs --plot FILE")
	case o.span.Given && o.span.Value <= 0:
		return exit.Usagef("--plot-time: give a time above 0")
	}
	in, err := openNoise(a, c.Context(), word)
	if err != nil {
		return err
	}
	if err := o.result.Check(in.files); err != nil {
		return err
	}
	if c.Flags().Changed("seed") && !in.random() {
		a.Warn("--seed has no influence: nothing in %s is random", in.title())
	}
	d, err := in.profile.Detours(o.seed)
	if err != nil {
		return err
	}
	r := &noiseReport{input: in, seed: o.seed, detours: d, stats: noise.Stats(d), span: o.span.Value}
	return a.WriteResult("noise stats", r, &o.result, in.files)
}

// noiseReport is what is known of noise, with everything that its output names.
type noiseReport struct {
	input   *noiseInput
	seed    uint64
	detours *noise.Detours
	stats   noise.Statistics
	span    unit.Duration // that is drawn; 0: what shows most
}

// title says what was measured.
func (r *noiseReport) title() string {
	return fmt.Sprintf("%s: %s in %s%s", r.input.title(), phrase.Plural(r.detours.Len(), "detour"), r.stats.Period.Short(),
		r.input.seeded(r.seed))
}

func (r *noiseReport) Text(a *env.Env, w io.Writer) {
	s := &r.stats
	a.WriteTitle(w, r.title())
	if s.Count == 0 {
		fmt.Fprintln(w, "no noise")
		return
	}
	tables := []*table.Table{r.lengthTable()}
	if largest := r.largestTable(); largest.Len() > 0 {
		tables = append(tables, largest)
	}
	tables = append(tables, r.sourceTable())
	a.WriteText(w, r.summary(), false)
	for _, t := range tables {
		fmt.Fprintln(w)
		a.WriteText(w, t, true)
	}
}

// summary are the figures of the whole trace.
func (r *noiseReport) summary() *table.Table {
	s := &r.stats
	t := table.Of("what", ">value", "remark")
	t.Add("serial overhead", phrase.PercentCell(s.OverheadPercent).Text, fmt.Sprintf("%s of %s are noise", s.Noise.Short(), s.Period.Short()))
	intervals := phrase.Grouped(s.Count) + " intervals"
	if s.Count == 1 {
		intervals = "1 interval"
	}
	t.Add("rate", phrase.RateCell(s.RatePerSecond).Text, intervals+" of noise in a period")
	return t
}

// mean is the mean length, rounded to picoseconds.
func (r *noiseReport) mean() unit.Duration { return unit.Duration(math.Round(r.stats.Mean)) }

func (r *noiseReport) lengthTable() *table.Table {
	s := &r.stats
	t := table.Of("interval", ">min", ">q1", ">median", ">q3", ">p99", ">max", ">mean")
	t.Add("length", s.Min.Short(), s.Q1.Short(), s.Median.Short(), s.Q3.Short(), s.P99.Short(), s.Max.Short(), r.mean().Short())
	return t
}

// largestTable says what the longest intervals carry. Shares that are less than one
// interval are left to the other forms.
func (r *noiseReport) largestTable() *table.Table {
	t := table.Of("the longest", ">intervals", ">at least", ">of the noise")
	for _, l := range r.stats.Largest {
		if float64(r.stats.Count)*l.Percent < 100 {
			continue
		}
		t.Add(shareName(l), phrase.Grouped(l.Count), l.AtLeast.Short(), phrase.PercentCell(l.NoisePercent).Text)
	}
	return t
}

// shareName names the longest intervals by how many of all they are.
func shareName(l noise.Share) string { return strconv.FormatFloat(l.Percent, 'g', -1, 64) + " %" }

func (r *noiseReport) sourceTable() *table.Table {
	t := table.Of("source", ">detours", ">rate", ">longest", ">overhead", ">of the noise")
	for _, s := range r.stats.Sources {
		t.Add(s.Label, phrase.Grouped(s.Count), phrase.RateCell(r.rate(s.Count)).Text, s.Longest.Short(),
			phrase.PercentCell(s.OverheadPercent).Text, phrase.PercentCell(s.NoisePercent).Text)
	}
	return t
}

// rate is how many there are in a second if there are this many in a period.
func (r *noiseReport) rate(count int) float64 {
	return float64(count) * float64(unit.Second) / float64(r.stats.Period)
}

// Rows is the table for programs: a line for the whole, one for each share of the
// longest intervals, one for each source.
func (r *noiseReport) Rows(*env.Env) env.Rows {
	t := table.Of("kind", "name", "count", "rate_per_second", "noise_ns", "overhead_percent", "noise_percent", "min_ns", "q1_ns",
		"median_ns", "q3_ns", "p99_ns", "max_ns", "mean_ns")
	s := &r.stats
	ns := func(d unit.Duration) any { return json.Number(d.NS()) }
	all := 0
	if s.Count > 0 {
		all = 100
	}
	t.Add("total", r.input.title(), s.Count, s.RatePerSecond, ns(s.Noise), s.OverheadPercent, all,
		ns(s.Min), ns(s.Q1), ns(s.Median), ns(s.Q3), ns(s.P99), ns(s.Max), ns(r.mean()))
	for _, l := range s.Largest {
		t.Add("longest", shareName(l), l.Count, nil, nil, nil, l.NoisePercent, ns(l.AtLeast), nil, nil, nil, nil, ns(s.Max), nil)
	}
	for _, x := range s.Sources {
		t.Add("source", x.Label, x.Count, r.rate(x.Count), ns(x.Noise), x.OverheadPercent, x.NoisePercent, nil, nil, nil, nil, nil, ns(x.Longest),
			nil)
	}
	return t
}

type document struct {
	Noise           string             `json:"noise"`
	Name            string             `json:"name"`
	Note            string             `json:"note,omitempty"`
	Parts           []string           `json:"parts"`
	Detours         int                `json:"detours"`
	Period          unit.Duration      `json:"period_ns"`
	NoiseTime       unit.Duration      `json:"noise_ns"`
	OverheadPercent float64            `json:"overhead_percent"`
	Count           int                `json:"stretches"`
	RatePerSecond   float64            `json:"rate_per_second"`
	Lengths         *lengths           `json:"lengths,omitempty"` // missing: there are none
	Largest         []noise.Share      `json:"longest"`
	Sources         []source           `json:"sources"`
	Provenance      *provenance.Record `json:"provenance"`
}

type lengths struct {
	Min    unit.Duration `json:"min_ns"`
	Q1     unit.Duration `json:"q1_ns"`
	Median unit.Duration `json:"median_ns"`
	Q3     unit.Duration `json:"q3_ns"`
	P99    unit.Duration `json:"p99_ns"`
	Max    unit.Duration `json:"max_ns"`
	Mean   unit.Duration `json:"mean_ns"`
}

type source struct {
	Label           string        `json:"label"`
	Count           int           `json:"detours"`
	RatePerSecond   float64       `json:"rate_per_second"`
	Noise           unit.Duration `json:"noise_ns"`
	OverheadPercent float64       `json:"overhead_percent"`
	NoisePercent    float64       `json:"noise_percent"`
	Longest         unit.Duration `json:"longest_ns"`
}

func (r *noiseReport) JSON(a *env.Env) (any, error) {
	s, p := &r.stats, r.input.profile
	d := &document{
		Noise: r.input.word, Name: p.Name, Note: p.Note, Detours: r.detours.Len(), Period: s.Period, NoiseTime: s.Noise,
		OverheadPercent: s.OverheadPercent, Count: s.Count, RatePerSecond: s.RatePerSecond, Largest: s.Largest, Provenance: a.Record(),
	}
	d.Provenance.Inputs = append(d.Provenance.Inputs, r.input.records...)
	if r.input.random() {
		d.Provenance.Seed = &r.seed
	}
	for i := range p.Parts {
		d.Parts = append(d.Parts, p.Parts[i].Spec())
	}
	if s.Count > 0 {
		d.Lengths = &lengths{s.Min, s.Q1, s.Median, s.Q3, s.P99, s.Max, r.mean()}
	}
	for _, x := range s.Sources {
		d.Sources = append(d.Sources, source{x.Label, x.Count, r.rate(x.Count), x.Noise, x.OverheadPercent, x.NoisePercent, x.Longest})
	}
	return d, nil
}
