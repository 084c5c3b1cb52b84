package measure

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/scenario"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/collective"
	"slackline/model/pattern"
	"slackline/model/unit"
	"slackline/show/figures"
	"slackline/show/plot"
	"slackline/show/tables"
)

// measureSchemesOptions are the flags of measure schemes.
type measureSchemesOptions struct {
	machine   scenario.MachineOptions
	operation string
	size      flags.Quantity[unit.Size]
	root      int
	algorithm string
	mapping   string
	ranks     flags.Counts
	loop      int
	skew      flags.Quantity[unit.Duration]
	drift     float64
	residual  float64
	excess    float64
	seed      uint64
	result    env.ResultFlags
}

func measureSchemesCommand(a *env.Env) *cobra.Command {
	o := &measureSchemesOptions{}
	c := &cobra.Command{
		Use:   "schemes",
		Short: "Simulate what benchmarks of collectives would report at any scale, beside the true time.",
		Long: "Simulate what benchmarks of collectives would report on a machine, at any scale, beside the true time: one execution " +
			"that all processes begin at the same moment, until the last one ends. Each scheme is a schedule (patterns scheme-mpptest, " +
			"scheme-mpbench, scheme-imb, scheme-window), so its bias is that of the scheme alone: executions that overlap in a loop, the " +
			"skew with which processes leave a barrier, a time of rank 0 alone. round-time and skampi start on a common clock, whose " +
			"errors follow from the time that comparing all clocks takes on this machine: along a tree and with the drift corrected " +
			"(round-time), or one after the other and with offsets alone (skampi). Nothing is measured: 'measure collectives --scheme' " +
			"runs the same schemes on this machine.",
		Example: `  slackline measure schemes --machine cscs-testbed --ranks 2^1..2^12
  slackline measure schemes --operation bcast --algorithm linear --ranks 4 --loop 3 -L 10us -o 0 -g 1us -G 0 --size 1
  slackline measure schemes --operation allreduce --ranks 2^1..2^14 --skew 50us --machine chic --plot bias.svg`,
		Args: flags.ExactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(a, c) },
	}
	a.AddGroup(c, "Machine", o.machine.AddFlags)
	a.AddGroup(c, "Operation", func(fs *pflag.FlagSet) {
		fs.StringVar(&o.operation, "operation", "bcast", "`name` of the collective: "+strings.Join(pattern.SchemeOperations(), ", "))
		fs.Var(&o.size, "size", "`size` of what is moved, e.g. 64KiB (default 8 bytes)")
		fs.IntVar(&o.root, "root", 0, "`rank` that is the root of the collective")
		fs.StringVar(&o.algorithm, "algorithm", "", "`name` of the algorithm of the collective (default: the mapping chooses)")
		fs.StringVar(&o.mapping, "mapping", "default", "`NAME|FILE` of the mapping by which collectives, the barrier among them, choose their "+
			"algorithms: default, openmpi, mpich, nccl")
		fs.Var(&o.ranks, "ranks", "`numbers` of ranks, e.g. 64 or 2^1..2^12 (default 2^1..2^10)")
	})
	a.AddGroup(c, "Schemes", func(fs *pflag.FlagSet) {
		flags.AddNumber(fs, &o.loop, "loop", 10, flags.Between(1, 1e5), "`number` of executions in a loop of mpptest, mpbench and imb")
		fs.Var(&o.skew, "skew", "processes begin up to this `time` apart, before the barrier if there is one (default 0)")
		fs.Float64Var(&o.drift, "drift", 300, "`ppm` by which clocks run apart whose drift is not corrected (skampi)")
		fs.Float64Var(&o.residual, "residual-drift", 1, "`ppm` that a correction of the drift leaves (round-time)")
		flags.AddRatio(fs, &o.excess, "excess", 0.1, "the shortest ping of a pair is longer than the shortest possible by this `fraction`")
		fs.Uint64Var(&o.seed, "seed", 1, "`seed` of skew and clock errors")
	})
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		o.result.AddFlags(fs, "form of the output")
		o.result.AddPlot(fs, "draw what every scheme reports over the ranks into `FILE.svg|png`")
	})
	o.machine.Complete(c)
	flags.Complete(c, "operation", pattern.SchemeOperations())
	flags.Complete(c, "mapping", collective.MappingNames())
	flags.CompleteWith(c, "algorithm", scenario.AlgorithmNames)
	return c
}

func (o *measureSchemesOptions) check() error {
	for _, f := range []struct {
		name        string
		value, most float64
	}{{"drift", o.drift, 1e5}, {"residual-drift", o.residual, 1e5}, {"excess", o.excess, 1000}} {
		if !(f.value >= 0 && f.value <= f.most) {
			return exit.Usagef("--%s: %g is not in 0..%g", f.name, f.value, f.most)
		}
	}
	return nil
}

func (o *measureSchemesOptions) run(a *env.Env, c *cobra.Command) error {
	if err := o.check(); err != nil {
		return err
	}
	m, err := o.machine.Machine(c)
	if err != nil {
		return err
	}
	mapping, err := collective.FindMapping(o.mapping)
	if err != nil {
		return err
	}
	inputs := []string{}
	if f := o.machine.File(); f != "" {
		inputs = append(inputs, f)
	}
	if err := o.result.Check(inputs); err != nil {
		return err
	}
	q := whatif.SchemeQuestion{
		Machine: m, Options: simulate.Options{Mapping: mapping},
		Params: pattern.Params{Operation: o.operation, Size: 8, Root: o.root, Algorithm: o.algorithm, Iterations: o.loop, Seed: o.seed},
		Excess: o.excess, Drift: o.drift / 1e6, Residual: o.residual / 1e6,
	}
	if o.size.Given {
		if q.Params.Size = int64(o.size.Value); q.Params.Size == 0 {
			q.Params.Size = pattern.None
		}
	}
	if o.skew.Given && o.skew.Value > 0 { // a mean with the whole of it as jitter: from 0 to the skew
		q.Params.Compute, q.Params.Jitter = o.skew.Value/2/unit.Nanosecond*unit.Nanosecond, 1
	}
	r := &schemesReport{operation: o.operation, machine: m.Name, loop: o.loop}
	if err := r.answer(c.Context(), a, q, o.ranks); err != nil {
		return err
	}
	a.WarnOfVoid(c, " on "+o.operation, pattern.Unused("scheme-imb", q.Params, []string{"size", "root"})...)
	if o.operation != "bcast" && o.operation != "scatter" {
		a.WarnAll(pattern.Cautions("scheme-imb", pattern.Params{Ranks: 1 << 10, Algorithm: o.algorithm}))
	}
	return a.WriteResult("measure schemes", r, &o.result, inputs)
}

// schemesReport is what all schemes report of an operation.
type schemesReport struct {
	operation, machine string
	loop               int
	answers            []*whatif.SchemeAnswer // by ranks
}

func (r *schemesReport) answer(ctx context.Context, a *env.Env, q whatif.SchemeQuestion, ranks []int) error {
	if len(ranks) == 0 {
		ranks = []int{2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
	}
	line := a.StartProgress()
	defer a.Progress.Clear()
	for _, n := range ranks {
		line.Report(func() string { return "simulating " + phrase.Plural(n, "rank") })
		q.Params.Ranks = n
		one, err := q.Answer(ctx)
		if err != nil {
			return interruptedOr(ctx, err)
		}
		r.answers = append(r.answers, one)
	}
	return nil
}

func (r *schemesReport) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	return figures.Schemes(r.answers), "What benchmarks report of " + r.operation,
		fmt.Sprintf("simulated on %s, %s in a loop", r.machine, phrase.Plural(r.loop, "execution")), nil
}

func (r *schemesReport) Rows(*env.Env) env.Rows { return r.table() }

func (r *schemesReport) Text(a *env.Env, w io.Writer) {
	fmt.Fprintf(w, "schemes: %s on %s, simulated, %s in a loop\n\n", r.operation, r.machine, phrase.Plural(r.loop,
		"execution"))
	a.WriteText(w, r.table(), true)
}

// table has a line for each scheme and number of ranks.
func (r *schemesReport) table() *table.Table {
	t := table.Of(">ranks", "scheme", ">reported_ns=reports", ">true_ns=true", ">bias_percent=bias", ">min_ns=fastest",
		">max_ns=slowest process", ">clock_error_ns=clocks wrong by")
	time := func(ps float64) table.Cell {
		d := unit.Duration(ps + 0.5)
		return tables.Time(d)
	}
	for _, x := range r.answers {
		for _, s := range x.Schemes {
			clocks := table.Cell{Text: "-"}
			if s.ClockError > 0 {
				clocks = time(float64(s.ClockError))
			}
			bias := table.Cell{Text: "-"}
			if v, ok := biasPercent(x, &s); ok {
				bias = table.Cell{Text: fmt.Sprintf("%+.1f %%", v), Value: v}
			}
			t.Add(x.Ranks, s.Scheme, time(s.Reported), time(float64(x.True)), bias, time(s.Min), time(s.Max), clocks)
		}
	}
	return t
}

func biasPercent(x *whatif.SchemeAnswer, s *whatif.SchemeTime) (float64, bool) {
	if x.True == 0 {
		return 0, false
	}
	return 100 * s.Bias(x.True) / float64(x.True), true
}
