package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/phrase"
	"slackline/model/unit"
	"slackline/observe/measure"
)

// measureCollectivesOptions are the flags of measure collectives.
type measureCollectivesOptions struct {
	job        jobFlags
	operations []string
	sizes      string
	ranks      string
	schemes    []string
	reduction  measure.Reduction
	options    measure.CollectiveOptions // those that are no list
	result     env.ResultFlags
	raw        string
	baseline   string
}

func measureCollectivesCommand(a *env.Env) *cobra.Command {
	o := &measureCollectivesOptions{options: measure.DefaultCollectives()}
	c := &cobra.Command{
		Use:   "collectives",
		Short: "Time the collective and one-sided operations of an MPI, from a common start on synchronized clocks.",
		Long: "Time the collective operations of an MPI, also the persistent ones, and one-sided operations between neighbors on a ring. By " +
			"default every execution begins at a moment that rank 0 names (Round-Time), on clocks that are synchronized if the ranks are on " +
			"several hosts, and its time is that of the slowest process. Executions that a rank began too late do not count, and where too few " +
			"count, there is no figure. The job is launched several times, " +
			"because one launch differs from the next by more than its own repetitions tell. " +
			"The schemes of other benchmarks can be run beside it. " +
			"JSON and CSV are data that 'check' and 'scaling' read.",
		Example: `  slackline measure collectives
  slackline measure collectives --operation bcast,allreduce --ranks 2,4,8,16 --sizes 8 --launches 10 --format json --out mpi.json
  slackline check mpi mpi.json
  slackline measure collectives --operation spin:200us --scheme round-time,imb,mpptest,mpbench
  slackline measure collectives --operation all --sizes 8,1KiB,64KiB --raw raw.csv
  slackline measure collectives --operation allreduce,iallreduce,allreduce_init
  slackline measure collectives --operation onesided,neighbor_alltoall --ranks 4 --sizes 8,64KiB
  slackline measure collectives --operation bcast --launches 10 --baseline before.json`,
		Args: flags.ExactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(a, c) },
	}
	a.AddGroup(c, "MPI", func(fs *pflag.FlagSet) { o.job.addNumbers(fs, &o.ranks) })
	a.AddGroup(c, "Measurement", func(fs *pflag.FlagSet) {
		fs.StringSliceVar(&o.operations, "operation", []string{measure.UsualOperations}, "`names` such as bcast, MPI_Iallreduce, bcast_init or "+
			"put+flush; usual, all, blocking, nonblocking, persistent, onesided; "+measure.TreeBroadcast+
			" of plain messages; spin:200us or sleep:200us, of which rank r of P takes (1 + r/P) times as long")
		fs.StringVar(&o.sizes, "sizes", "8", "`sizes` of blocks, e.g. 8,1KiB,64KiB: what a rank sends to another one, or what each gets")
		fs.StringSliceVar(&o.schemes, "scheme", []string{string(measure.RoundTime)}, "`names` of schemes: "+strings.Join(words(measure.Schemes),
			", ")+"; the first is the result, others stand beside it")
		fs.IntVar(&o.options.Repeat, "repeat", o.options.Repeat, "`number` of valid executions wanted of each launch, or of loops")
		fs.IntVar(&o.options.Launches, "launches", o.options.Launches, "`number` of times that the job is launched for each number of ranks")
		fs.Uint64Var(&o.options.Seed, "seed", 1, "`seed` of the order of launches, operations and sizes")
		fs.IntVar(&o.options.Loop, "loop", o.options.Loop, "`number` of executions in a loop of mpptest, mpbench and imb")
		fs.IntVar(&o.options.Barriers, "barriers", o.options.Barriers, "`number` of barriers before each loop of imb, 0 or more")
		fs.IntVar(&o.options.Lead, "lead", o.options.Lead, "round-time: start so many `times` the time of a broadcast after the "+
			"announcement; doubled if too few are valid")
		fs.Var((*flags.Time)(&o.options.Window), "window", "window, skampi: from one start to the next (default 1ms; window doubles it if "+
			"too few are valid)")
		fs.Var((*flags.Time)(&o.options.Tolerance), "tolerance", "a rank that begins later than this makes an execution invalid")
		fs.Var((*flags.Time)(&o.options.Budget), "budget", "round-time: stop an operation after this `time`")
	})
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		flags.AddChoice(fs, &o.reduction, "reduction", "the time of an execution: of the slowest process (default), of rank 0 (default of "+
			"mpptest and mpbench), from the first start to the last end, the mean, of the fastest", "", measure.Reductions...)
		o.result.AddFlags(fs, "form of the output; json and csv are data for 'check' and 'scaling'")
		fs.StringVar(&o.raw, "raw", "", "write start and end of every execution on every rank to this CSV `file`, which 'check' "+
			"and 'scaling' read too")
		fs.StringVar(&o.baseline, "baseline", "", "compare with an earlier JSON result in this `file`, launch by launch")
	})
	flags.Complete(c, "operation", measure.OperationNames())
	flags.Complete(c, "scheme", words(measure.Schemes))
	return c
}

// words are names as strings.
func words[T ~string](names []T) []string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return list
}

// find reads the lists of the flags, and checks all schemes.
func (o *measureCollectivesOptions) find() (measure.CollectiveOptions, error) {
	m := o.options
	var err error
	if m.Operations, err = measure.ParseOperations(o.operations); err != nil {
		return m, exit.Usagef("--operation: %v", err)
	}
	if m.Ranks, err = parseRanks(o.ranks); err != nil {
		return m, err
	}
	sizes, err := unit.ParseSizes(o.sizes)
	if err != nil {
		return m, exit.Usagef("--sizes: %v", err)
	}
	slices.Sort(sizes)
	m.Sizes = nil
	for _, size := range slices.Compact(sizes) {
		m.Sizes = append(m.Sizes, int(size))
	}
	for i, s := range o.schemes {
		m.Scheme = measure.Scheme(s)
		if err := m.Check(); err != nil {
			return m, exit.Usagef("%v", err)
		}
		if slices.Contains(o.schemes[:i], s) {
			return m, exit.Usagef("--scheme: %s is named twice", s)
		}
	}
	return m, nil
}

func (o *measureCollectivesOptions) run(a *env.Env, c *cobra.Command) error {
	options, err := o.find()
	if err != nil {
		return err
	}
	var inputs []string
	if o.baseline != "" {
		inputs = []string{o.baseline}
	}
	if err := o.result.Check(inputs, env.To("raw", o.raw)); err != nil {
		return err
	}
	if c.Flags().Changed("barriers") && !slices.Contains(o.schemes, string(measure.IMB)) {
		a.Warn("--barriers has no effect: only the scheme imb has a number of barriers")
	}
	r := &measuredCollectives{reduction: o.reduction, seed: o.options.Seed}
	if o.baseline != "" {
		if r.before, err = ReadCollectivesBaseline(o.baseline); err != nil {
			return err
		}
	}
	if err := r.measure(c.Context(), a, o, options); err != nil {
		return err
	}
	if o.raw != "" {
		if err := a.WriteBeside(o.raw, inputs, func(w io.Writer) error { return measure.WriteRaw(w, r.schemes) }); err != nil {
			return err
		}
	}
	var verdicts []error
	for _, one := range r.schemes {
		r.warn(a, one)
		if err := one.Verdict(); err != nil {
			verdicts = append(verdicts, fmt.Errorf("%s: %w", one.Options.Scheme, err))
		}
	}
	if len(verdicts) == len(r.schemes) {
		return errors.Join(verdicts...)
	}
	return a.WriteResult("measure collectives", r, &o.result, inputs)
}

// measuredCollectives is a measurement with what its output needs.
type measuredCollectives struct {
	schemes   []*measure.Collectives // the first is the result
	reduction measure.Reduction      // empty: that of the scheme
	seed      uint64
	before    *collectivesBaseline
}

func (r *measuredCollectives) measure(ctx context.Context, a *env.Env, o *measureCollectivesOptions,
	options measure.CollectiveOptions) error {
	start, err := o.job.starter(ctx, a, true)
	if err != nil {
		return err
	}
	line := a.StartProgress()
	defer a.Progress.Clear()
	for _, s := range o.schemes {
		options.Scheme = measure.Scheme(s)
		options.Progress = func(done, total int, what string) {
			line.Report(func() string { return fmt.Sprintf("%s: %d of %d, %s", s, done, total, what) })
		}
		c, err := measure.MeasureCollectives(ctx, start, options)
		if err != nil {
			return err
		}
		r.schemes = append(r.schemes, c)
	}
	return nil
}

// how is the reduction for a scheme.
func (r *measuredCollectives) how(c *measure.Collectives) measure.Reduction {
	if r.reduction == "" {
		return c.Options.Scheme.Own()
	}
	return r.reduction
}

// shownRefused is how many refused points a warning names.
const shownRefused = 5

// warn reports what cannot be trusted.
func (r *measuredCollectives) warn(a *env.Env, c *measure.Collectives) {
	if refused := refusedNames(c); len(refused) > 0 {
		if more := len(refused) - shownRefused; more > 1 {
			refused = append(refused[:shownRefused], fmt.Sprintf("%d more", more))
		}
		a.Warn("%s: too few executions are valid, so there is no figure: %s", c.Options.Scheme, strings.Join(refused, ", "))
	}
	for _, o := range c.Omitted {
		a.Warn("%s; not measured: %s", o.Reason, strings.Join(o.Operations, ", "))
	}
	for _, ranks := range c.Options.Ranks {
		if c.Crowded[ranks] {
			how := ""
			if c.Hooked[ranks] {
				how = " (by a function of slackline in the place of ucp_worker_progress, because this MPI does not)"
			}
			a.Warn("with %d ranks there were more of them than CPUs on a host: waiting ranks gave their CPU away%s, and times are "+
				"those of a crowded host", ranks, how)
		}
	}
	if !c.OneClock && c.ClockError > c.Options.Tolerance {
		a.Warn("the clocks of the ranks may be wrong by %s, more than the tolerance of %s", c.ClockError, c.Options.Tolerance)
	}
}

func refusedNames(c *measure.Collectives) []string {
	var names []string
	for _, p := range c.Points {
		if p.Refused() {
			valid, tried := p.Counts()
			name := fmt.Sprintf("%s with %s", p.Operation.Name, phrase.Plural(p.Ranks, "rank"))
			if p.Operation.Sized {
				name += " and " + unit.Size(p.Size).String()
			}
			names = append(names, fmt.Sprintf("%s (%d of %d)", name, valid, tried))
		}
	}
	return names
}
