// Package record is the verb record: it records the MPI calls of a program.
package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/hang"
	"slackline/internal/phrase"
	"slackline/model/unit"
	"slackline/observe/counters"
	"slackline/observe/record"
)

type recordOptions struct {
	record.Options // as far as a flag is a field of it
	header         bool
	recover        string

	callpath string
	sample   string
	counters []string
	maxSize  flags.Quantity[unit.Size]
	window   string
	yield    string
	watchdog flags.Quantity[unit.Duration]
}

// Verb is the entry of the registry.
var Verb = env.Verb{Name: "record", Group: env.Observe, Job: env.Outside, New: command}

func command(a *env.Env) *cobra.Command {
	o := &recordOptions{}
	c := &cobra.Command{
		Use:   "record [flags] -- COMMAND...",
		Short: "Run an MPI program and record what its ranks do: a trace directory.",
		Long: "Run an MPI program and record what its ranks do: a trace directory.\n" +
			"The program needs no change: a recorder is compiled with the site's mpicc on first use and preloaded. " +
			"Streams and exit code are those of the program.",
		Example: `  slackline record -- mpirun -n 8 ./app input.txt
  slackline record --out small.slt --max-size 64MiB --ring -- mpirun -n 8 ./app
  slackline record --window 10s..20s -- srun --mpi=pmix -n 1024 ./app
  slackline record --counters -- mpirun -n 8 ./app
  slackline record --counters=instructions,cycles,cache-misses -- mpirun -n 8 ./app
  slackline record --watchdog 60s -- mpirun -n 64 ./app
  slackline record --estimate -- mpirun -n 2 ./app
  slackline record --callpath caller --sample off -- mpirun -n 2 ./a : -n 2 ./b
  slackline record --recover .app.slt-raw-1234567
  slackline record --print-header > slackline.h`,
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	env.TakesCommand(c, func() bool { return !o.header && o.recover == "" })
	a.AddGroup(c, "Output", o.addOutputFlags)
	a.AddGroup(c, "Functions of the program", o.addFunctionFlags)
	a.AddGroup(c, "Hardware counters", o.addCounterFlags)
	a.AddGroup(c, "Size", o.addSizeFlags)
	a.AddGroup(c, "MPI", o.addMPIFlags)
	flags.CompleteList(c, "counters", counters.Names())
	return c
}

func (o *recordOptions) addOutputFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Out, "out", "", "`directory` of the trace (default: the name of the program and .slt)")
	fs.BoolVar(&o.Force, "force", false, "replace a trace that is there")
	fs.Var(&o.watchdog, "watchdog", "when no rank has made an MPI call for this time, e.g. 60s, say why, as 'slackline hang' does, "+
		"on the standard error and in a file beside the trace; the program runs on")
	fs.BoolVar(&o.KeepRaw, "keep-raw", false, "keep the files of the recorder")
	fs.StringVar(&o.recover, "recover", "", "make a trace from the raw files in this `directory`, which are left if "+
		"slackline is killed, and end")
	fs.BoolVar(&o.header, "print-header", false, "print slackline.h, by which C and C++ programs mark regions, and end")
}

func (o *recordOptions) addFunctionFlags(fs *pflag.FlagSet) {
	flags.AddChoice(fs, &o.callpath, "callpath", "what is recorded of the way to an MPI call (default full)", "", "off", "caller", "full")
	fs.StringVar(&o.sample, "sample", "auto", "`time` between two samples of the call stack, e.g. 1ms; off: none; auto: 1ms, unless the "+
		"program was built with -finstrument-functions")
	fs.StringSliceVar(&o.Filter, "filter", nil, "`patterns` of functions built with -finstrument-functions that are recorded, or with ! in "+
		"front left out, e.g. 'solve*,!solve_row'")
	flags.AddNumber(fs, &o.Depth, "depth", 0, flags.AtLeast(0),
		"`number` of nested functions that are recorded of those built with -finstrument-functions (default: all)")
}

func (o *recordOptions) addCounterFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.counters, "counters", nil, "`events` that are counted at the start and end of each call and at each sample, "+
		"by the names that perf has for them, e.g. instructions,cycles,cache-misses; 'slackline doctor' lists what can be counted "+
		"(default without a list: "+strings.Join(counters.Default, ",")+")")
	fs.Lookup("counters").NoOptDefVal = strings.Join(counters.Default, ",")
}

func (o *recordOptions) addSizeFlags(fs *pflag.FlagSet) {
	fs.Var(&o.maxSize, "max-size", "limit of what a rank or thread writes before it is compressed, e.g. 64MiB (default: none)")
	fs.BoolVar(&o.Ring, "ring", false, "keep the end of what does not fit into --max-size, not the beginning")
	fs.StringVar(&o.window, "window", "", "record only between these `times` after MPI_Init, e.g. 10s..20s or 30s..")
	fs.BoolVar(&o.StartOff, "start-off", false, "record nothing before the program calls MPI_Pcontrol(1)")
	fs.BoolVar(&o.Estimate, "estimate", false, "run the program and say how large its trace would be")
}

func (o *recordOptions) addMPIFlags(fs *pflag.FlagSet) {
	env.AddProgramMPI(fs, &o.MPI)
	flags.AddNumber(fs, &o.PingEvery, "ping-every", 0, flags.AtLeast(0),
		"`number` of collectives of all ranks after which clocks are compared again (default: only at both ends)")
	fs.BoolVar(&o.PingAll, "ping-all", false, "compare the clocks of ranks on the same host, too")
	flags.AddChoice(fs, &o.yield, "yield", "make MPICH give up the CPU while it waits; auto: if there are more ranks than CPUs", "auto",
		"auto", "on", "off")
}

func (o *recordOptions) run(a *env.Env, c *cobra.Command, args []string) error {
	if o.header {
		if len(args) > 0 {
			return exit.Usagef("--print-header runs no command; leave %s out", args[0])
		}
		a.WarnOfAllBut(c, " with --print-header", "print-header")
		text, err := record.Header()
		if err == nil {
			_, err = fmt.Fprint(a.Stdout, text)
		}
		return err
	}
	if f := c.Flags().Lookup("counters"); f.Changed && c.ArgsLenAtDash() < 0 && len(args) > 1 && args[1] == "--" { // a list after a space
		o.counters, args = strings.Split(args[0], ","), args[2:]
	}
	options, err := o.options(a)
	if err != nil {
		return err
	}
	if o.recover != "" {
		return o.recoverRun(a, c, args, options)
	}
	options.Command = args
	result, err := record.Run(c.Context(), options)
	if result == nil {
		return err
	}
	if err == nil || errors.Is(err, context.Canceled) {
		o.summary(a, result)
	}
	return a.EndAsProgram(result.ExitCode, err)
}

// recoverRun makes a trace of what a killed slackline has left.
func (o *recordOptions) recoverRun(a *env.Env, c *cobra.Command, args []string, options record.Options) error {
	if len(args) > 0 {
		return exit.Usagef("--recover runs no command; leave %s out", args[0])
	}
	a.WarnOfAllBut(c, " with --recover", "recover", "out", "force", "keep-raw")
	result, err := record.Recover(o.recover, options)
	if err == nil {
		o.summary(a, result)
	}
	return err
}

// options turns the flags into what the recorder wants.
func (o *recordOptions) options(a *env.Env) (record.Options, error) {
	r := o.Options
	r.CallPath, r.MaxSize, r.Yield = o.callpath, int64(o.maxSize.Value), o.yield
	r.Stdin, r.Stdout, r.Stderr, r.Note, r.Warn = a.Stdin, env.Raw(a.Stdout), env.Raw(a.Stderr), a.Note, a.Warn
	switch o.sample {
	case "auto":
		r.Sample = -1
	case "off":
	default:
		d, err := unit.ParseDuration(o.sample)
		if err != nil || d < 10*unit.Microsecond || d > 10*unit.Second {
			return r, exit.Usagef("--sample: give a time between 10us and 10s, off or auto, not %q", o.sample)
		}
		r.Sample = nanoseconds(d)
	}
	if o.watchdog.Given {
		if o.watchdog.Value < unit.Second {
			return r, exit.Usagef("--watchdog: give a time of at least 1s")
		}
		r.Watchdog, r.Standstill = nanoseconds(o.watchdog.Value), o.standstill(a)
	}
	var err error
	if r.Counters, err = counters.Parse(o.counters); err != nil {
		return r, exit.Usagef("--counters: %v", err)
	}
	const leastSize = 64 << 10
	switch {
	case o.maxSize.Given && o.maxSize.Value < leastSize:
		return r, exit.Usagef("--max-size: give at least 64KiB")
	case o.Ring && !o.maxSize.Given:
		return r, exit.Usagef("--ring needs --max-size")
	}
	if o.window == "" {
		return r, nil
	}
	r.From, r.To, err = parseWindow(o.window)
	return r, err
}

func nanoseconds(d unit.Duration) time.Duration { return time.Duration(d / unit.Nanosecond) }

// parseWindow reads FROM..TO, where each may be missing.
func parseWindow(text string) (from, to time.Duration, err error) {
	wrong := exit.Usagef("--window: give two times such as 10s..20s, not %q", text)
	first, last, ok := strings.Cut(text, "..")
	if !ok {
		return 0, 0, wrong
	}
	for _, side := range []struct {
		text string
		to   *time.Duration
	}{{first, &from}, {last, &to}} {
		if side.text == "" {
			continue
		}
		d, err := unit.ParseDuration(side.text)
		if err != nil || d <= 0 {
			return 0, 0, wrong
		}
		*side.to = nanoseconds(d)
	}
	if to != 0 && to <= from {
		return 0, 0, exit.Usagef("--window: %s ends before it begins", text)
	}
	return from, to, nil
}

// standstill says why the program stands still, on the standard error and in a file beside the trace, which has all that was said.
func (o *recordOptions) standstill(a *env.Env) func(*record.Sight, time.Duration) {
	var all bytes.Buffer
	return func(s *record.Sight, since time.Duration) {
		var text bytes.Buffer
		fmt.Fprintf(&text, "%s: no rank has made an MPI call for %s\n", time.Now().Format(time.DateTime), unit.Elapsed(since.Round(time.Second)))
		hang.Write(a, &text, s)
		text.WriteByte('\n')
		_, _ = a.Stderr.Write(text.Bytes()) // at once, not between lines of the program; there is nobody else to tell
		all.Write(text.Bytes())
		path := strings.TrimSuffix(s.Out, ".slt") + ".hang.txt"
		if err := a.WriteOut(path, nil, func(w io.Writer) error { _, err := w.Write(all.Bytes()); return err }); err != nil {
			a.Warn("--watchdog: %v", err)
		}
	}
}

// summary describes what was recorded.
func (o *recordOptions) summary(a *env.Env, r *record.Result) {
	if o.Estimate {
		o.saySize(a, r)
		return
	}
	if r.Out != "" {
		a.Note("%s, %s: trace in %s", phrase.Plural(r.Ranks, "rank"), r.Library, r.Out)
	}
	from, _, _ := parseWindow(o.window) // it was checked before
	switch {
	case r.NothingRecorded() && o.StartOff:
		a.Warn("nothing was recorded: the program never called MPI_Pcontrol(1), which --start-off waits for")
	case r.NothingRecorded() && r.Lasted() > from:
		a.Warn("nothing was recorded: no MPI call began in --window %s, and no sample was taken", o.window)
	case r.NothingRecorded():
		a.Warn("nothing was recorded: the program ended before --window %s began", o.window)
	}
	a.WarnAll(r.Circumstances())
}

// saySize prints the estimate of the size of a trace.
func (o *recordOptions) saySize(a *env.Env, r *record.Result) {
	var sum, most int64
	for _, h := range r.Heads {
		sum += h.Bytes
		most = max(most, h.Bytes)
	}
	const sampleBytes = 32
	samples := int64(0)
	if r.Period > 0 {
		samples = int64(r.Elapsed/r.Period) * sampleBytes
	}
	threads := int64(len(r.Heads))
	a.Note("%s, %s: %s for calls, %s at most in one thread; samples add up to %s per thread",
		phrase.Plural(r.Ranks, "rank"), phrase.Plural(len(r.Heads), "thread"), unit.Size(sum), unit.Size(most), unit.Size(samples))
	a.Note("before compression, which makes it several times smaller: up to %s; --max-size limits it per thread",
		unit.Size(sum+threads*samples))
}
