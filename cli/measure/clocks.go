package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/model/unit"
	"slackline/observe/measure"
)

// measureClocksOptions are the flags of measure clocks.
type measureClocksOptions struct {
	job     jobFlags
	inject  string
	options measure.ClockOptions
	every   time.Duration
	figure  string
	raw     string
	result  env.ResultFlags
}

func measureClocksCommand(a *env.Env) *cobra.Command {
	o := &measureClocksOptions{options: measure.DefaultClocks()}
	c := &cobra.Command{
		Use:   "clocks",
		Short: "Compare the clocks of MPI ranks, and find out how well they can be brought together.",
		Long: "Compare the clocks of MPI ranks by pings, along a tree of ceil(log2 P) rounds and one rank after the other, again and " +
			"again over a time. Then say what the usual corrections are worth: an offset, a line through two of them, least squares, and " +
			"the envelope, which proves a bound for every rank if clocks run evenly. The corrections are checked by new pings after a " +
			"wait. With --inject the clocks get known offsets and drifts, so that the true errors are known. Also: what the sources of " +
			"time of each host are like, the distribution of round trips, and how long to go on pinging.",
		Example: `  slackline measure clocks
  slackline measure clocks --ranks 4 --inject offset=5s,drift=100,seed=1
  slackline measure clocks --ranks 3 --inject offset=0s/2s/-1.5s,drift=0/-100/42.5
  slackline measure clocks --ranks 8 --launch 'srun --mpi=pmix --nodes 8' --duration 10min --moments 120 --plot drift.svg --figure drift
  slackline measure clocks --launch 'srun --mpi=pmix --nodes 2' --every 1s --for 14h --patience 10 --plot drift.svg --figure drift`,
		Args: flags.ExactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(a, c) },
	}
	a.AddGroup(c, "MPI", func(fs *pflag.FlagSet) { o.job.add(fs, "best one for each host") })
	a.AddGroup(c, "Measurement", func(fs *pflag.FlagSet) {
		fs.StringVar(&o.inject, "inject", "", "give the clocks false offsets and drifts (ppm): `offset=5s,drift=100,seed=1` draws them between "+
			"both signs of it, offset=0s/2s,drift=0/-50 has one for each rank")
		fs.IntVar(&o.options.Patience, "patience", o.options.Patience, "`number` of pings without a shorter one after which a pair stops")
		fs.IntVar(&o.options.MostPings, "max-pings", o.options.MostPings, "largest `number` of pings of a pair at one moment")
		fs.IntVar(&o.options.Moments, "moments", o.options.Moments, "`number` of times that all clocks are compared")
		fs.Var((*flags.Time)(&o.options.Duration), "duration", "`time` over which the moments are spread")
		fs.Var((*flags.Time)(&o.options.Duration), "for", "the same `time` as --duration, for use with --every")
		fs.Lookup("for").DefValue = ""
		fs.Var((*flags.Time)(&o.every), "every", "`time` from one moment to the next, instead of --moments, e.g. --every 1s --for 14h")
		fs.Var((*flags.Time)(&o.options.Wait), "wait", "`time` after which the corrections are checked")
		fs.IntVar(&o.options.RoundTrips, "round-trips", o.options.RoundTrips,
			"`number` of pings between ranks 0 and 1 for the distribution of round trips")
	})
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		o.result.AddFlags(fs, "form of the output; csv has every model of every rank")
		fs.StringVar(&o.raw, "raw", "", "write all pings with their stamps to this CSV `file`")
		o.result.AddPlot(fs, "draw a figure into `FILE.svg|png`")
		flags.AddChoice(fs, &o.figure, "figure", "what --plot draws: the distribution of round trips, the drift of the ranks, what "+
			"stopping after N pings costs and gives, the tree, the times of both schemes", figureRoundTrips, clockFigures...)
	})
	return c
}

func (o *measureClocksOptions) run(a *env.Env, c *cobra.Command) error {
	if c.Flags().Changed("figure") && o.result.Plot == "" {
		return exit.Usagef("--figure says what --plot draws; give --plot FILE")
	}
	options := o.options
	if c.Flags().Changed("for") && c.Flags().Changed("duration") {
		return exit.Usagef("--for and --duration are the same; give one of them")
	}
	if c.Flags().Changed("every") {
		if c.Flags().Changed("moments") {
			return exit.Usagef("--every says how many --moments there are; give one of them")
		}
		if options.Moments = momentsOf(options.Duration, o.every); options.Moments < 2 {
			return exit.Usagef("--every: %s is not above 0 and at most the %s of the measurement; give e.g. --every 1s --for 14h", o.every,
				options.Duration)
		}
		options.Duration = o.every * time.Duration(options.Moments-1)
	}
	seed, err := parseInjections(o.inject, o.job.ranks, &options)
	if err != nil {
		return exit.Usagef("--inject: %v", err)
	}
	if err := options.Check(o.job.ranks); err != nil {
		return exit.Usagef("%v", err)
	}
	if err := o.result.Check(nil, env.To("raw", o.raw)); err != nil {
		return err
	}
	r := &measuredClocks{seed: seed, figure: o.figure}
	if err := r.measure(a, c, o, options); err != nil {
		return interruptedOr(c.Context(), err)
	}
	r.warn(a)
	if o.raw != "" {
		if err := a.WriteBeside(o.raw, nil, r.writeRaw); err != nil {
			return err
		}
	}
	return a.WriteResult("measure clocks", r, &o.result, nil)
}

// momentsOf returns how many moments there are in a time, one at its start and one after every step; 0: none is known.
func momentsOf(duration, every time.Duration) int {
	if every <= 0 {
		return 0
	}
	return int(min(duration/every, math.MaxInt32-1)) + 1
}

// measuredClocks is a measurement with what its output needs.
type measuredClocks struct {
	over    string // the MPI
	version string // what it calls itself
	clocks  *measure.Clocks
	wait    time.Duration
	seed    *uint64 // of what was injected
	figure  string  // that is drawn
}

func (r *measuredClocks) measure(a *env.Env, c *cobra.Command, o *measureClocksOptions, options measure.ClockOptions) (err error) {
	j, err := o.job.start(c.Context(), a)
	if err != nil {
		return err
	}
	defer func() {
		if e := j.Close(); err == nil {
			err = e
		}
	}()
	line := a.StartProgress()
	options.Progress = func(what string) { line.Report(func() string { return what }) }
	r.over, r.version, r.wait = j.Library.String(), j.Version, options.Wait
	r.clocks, err = measure.MeasureClocks(c.Context(), j, options)
	a.Progress.Clear()
	return err
}

// warn reports what is wrong with the clocks.
func (r *measuredClocks) warn(a *env.Env) {
	for _, h := range r.clocks.Sources {
		a.WarnAll(h.Warnings())
	}
	for i := range r.clocks.Ends {
		e := &r.clocks.Ends[i]
		if e.Uneven {
			a.Warn("no even drift agrees with the pings of rank %d: a clock was set or stood still, or its speed changed; nothing is proven of it",
				e.Rank)
		}
		for _, m := range append(append([]measure.ModelError{}, e.End...), e.Later...) {
			if m.Model == measure.Proven && e.Known && (m.True > m.Bound || -m.True > m.Bound) {
				a.Warn("rank %d: the true error %s is outside the proven bound %s; the clock of this host does not run evenly", e.Rank, m.True.Short(),
					m.Bound.Short())
			}
		}
	}
}

// parseInjections reads offset=...,drift=...,seed=... into options, and returns the seed if something was drawn.
func parseInjections(text string, ranks int, options *measure.ClockOptions) (seed *uint64, err error) {
	if text == "" || ranks < 1 || ranks > 1<<16 {
		return nil, nil
	}
	var offset, drift string
	number := uint64(1)
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "offset":
			offset = value
		case "drift":
			drift = value
		case "seed":
			if number, err = strconv.ParseUint(value, 10, 64); err != nil {
				return nil, fmt.Errorf("%q is not a seed; give a whole number", value)
			}
		default:
			return nil, fmt.Errorf("%q is not one of offset=, drift=, seed=; write for example offset=5s,drift=100,seed=1", part)
		}
	}
	if offset == "" && drift == "" {
		return nil, fmt.Errorf("%q injects nothing; write for example offset=5s,drift=100,seed=1", text)
	}
	r := rand.New(rand.NewPCG(number, 0x636c6f636b73))
	offsets, drawn1, err := injected(offset, ranks, r, parseSignedTime)
	if err != nil {
		return nil, err
	}
	drifts, drawn2, err := injected(drift, ranks, r, parsePPM)
	if err != nil {
		return nil, err
	}
	options.Inject = make([]measure.Injection, ranks)
	for i := range options.Inject {
		options.Inject[i] = measure.Injection{Offset: time.Duration(math.Round(offsets[i])), Drift: drifts[i]}
	}
	if drawn1 || drawn2 {
		seed = &number
	}
	return seed, nil
}

// injected are the values of all ranks: a list, or drawn between both signs of a single one.
func injected(text string, ranks int, r *rand.Rand, parse func(string) (float64, error)) (list []float64, drawn bool, err error) {
	list = make([]float64, ranks)
	if text == "" {
		return list, false, nil
	}
	words := strings.Split(text, "/")
	if len(words) > 1 && len(words) != ranks {
		return nil, false, fmt.Errorf("%q has %d values for %d ranks; give one for each, or a single one to draw from", text, len(words), ranks)
	}
	for i := range list {
		v, err := parse(words[i%len(words)])
		if err != nil {
			return nil, false, err
		}
		if len(words) == 1 {
			v *= 2*r.Float64() - 1
		}
		list[i] = v
	}
	return list, len(words) == 1, nil
}

// parseSignedTime reads a time such as -1.5s, as ns.
func parseSignedTime(text string) (float64, error) {
	plain, negative := strings.CutPrefix(text, "-")
	d, err := unit.ParseDuration(plain)
	if negative {
		d = -d
	}
	return float64(d) / float64(unit.Nanosecond), err
}

// parsePPM reads a drift such as -100 or 42.5ppm.
func parsePPM(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "ppm"), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a drift; give parts per million, e.g. -50", text)
	}
	return v / 1e6, nil
}
