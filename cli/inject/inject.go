// Package inject is the verb inject: it runs a program under artificial latency or noise.
package inject

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/scenario"
	"slackline/internal/provenance"
	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/observe/inject"
	"slackline/observe/mpi"
)

type injectOptions struct {
	latency []string
	gap     flags.Quantity[unit.PerByte]
	base    flags.Quantity[unit.Duration]
	eager   flags.Quantity[unit.Size]
	panel   string

	noise string
	align string
	seed  uint64

	mpi    string
	sleep  string
	out    string
	format string
}

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "inject", Group: env.Observe, Job: env.Outside, New: command,
	Documents: env.Documents{"inject": {injectJSON{}}},
}

func command(a *env.Env) *cobra.Command {
	o := &injectOptions{}
	c := &cobra.Command{
		Use:   "inject [flags] -- COMMAND...",
		Short: "Run an MPI program under artificial latency and noise.",
		Long: "Run an MPI program under artificial latency and noise: what predictions say becomes a measurement.\n" +
			"The program needs no change and no privileges: a small library is compiled with the site's mpicc on first use and preloaded. " +
			"A message that is sent at t is delivered no earlier than t, what a message of its size takes by itself, and the added latency; " +
			"the sender is not held up, and messages sent one after another are each late by the latency, not by its multiples. " +
			"Collectives become messages, so that each of their steps gets the latency. " +
			"Noise takes the CPU from a rank wherever it is, in the program or in MPI. " +
			"Streams and exit code are those of the program; a report of what was done follows on the standard error.",
		Example: `  slackline inject --latency 100us -- mpirun -n 2 ./app
  slackline inject --latency 20us --latency '1ms@0>1' -- mpirun -n 4 ./app
  slackline inject --latency 100us@0..3-4..7 -- srun --mpi=pmix -n 8 ./app
  slackline inject --noise 100Hz:200us --seed 7 -- mpirun -n 2 ./app
  slackline inject --latency 100us -- slackline record --out slow.slt -- mpirun -n 2 ./app
  slackline inject --latency 50us --noise altix --out report.json --format json -- mpirun -n 2 ./app`,
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	env.TakesCommand(c, func() bool { return true })
	a.AddGroup(c, "Latency", o.addLatencyFlags)
	a.AddGroup(c, "Noise", o.addNoiseFlags)
	a.AddGroup(c, "MPI", o.addMPIFlags)
	a.AddGroup(c, "Output", o.addOutputFlags)
	flags.CompleteWith(c, "noise", noise.Names)
	return c
}

func (o *injectOptions) addLatencyFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&o.latency, "latency", nil, "`TIME[@PAIRS]` added to messages, e.g. 100us, or 100us@0-3,1-* between these ranks in "+
		"both directions, '100us@0>3' in one; 0..3 are several ranks, * all; later ones replace earlier ones")
	fs.Var(&o.gap, "gap-per-byte", "time that each further byte of a message takes in addition, e.g. 0.1ns; messages of a rank "+
		"leave one after another")
	fs.Var(&o.base, "base", "what a message takes by itself (default: half of the least round-trip time, measured at MPI_Init "+
		"for sizes up to 4 MiB)")
	fs.Var(&o.eager, "eager-limit", "larger messages than this `size` have a handshake, of which each part gets the latency (default: as "+
		"the MPI does, measured at MPI_Init)")
	flags.AddChoice(fs, &o.panel, "panel", "for comparison, what naive ways of injecting do: b delays the sender, c delays messages one "+
		"after another", "d", "b", "c", "d")
}

func (o *injectOptions) addNoiseFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.noise, "noise", "", "`SPEC|NAME|FILE` of the noise on all ranks, e.g. 100Hz:200us, as for simulate")
	fs.Uint64Var(&o.seed, "seed", 0, "`number` from which the noise and the ranks' offsets in it are drawn, as for simulate")
	flags.AddChoice(fs, &o.align, "offsets", "which ranks share an offset in the noise: none, or all (co-scheduling)",
		scenario.AlignIndependent, scenario.AlignIndependent, scenario.AlignCoscheduled)
}

func (o *injectOptions) addMPIFlags(fs *pflag.FlagSet) {
	env.AddProgramMPI(fs, &o.mpi)
	flags.AddChoice(fs, &o.sleep, "sleep", "ranks that are held give up the CPU; auto: if there are more ranks than CPUs", "auto", "auto",
		"on", "off")
}

func (o *injectOptions) addOutputFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.out, "out", "", "`file` for the report (default: the standard error)")
	flags.AddChoice(fs, &o.format, "format", "form of the report", env.FormatText, env.FormatText, env.FormatJSON)
}

func (o *injectOptions) run(a *env.Env, c *cobra.Command, args []string) error {
	options, err := o.options(a)
	if err != nil {
		return err
	}
	if err := env.CheckOutputs((&scenario.NoiseOptions{File: o.noise}).Files(), env.To("out", o.out)); err != nil {
		return err
	}
	if o.noise == "" {
		a.WarnOfVoid(c, ": there is no --noise", "seed", "offsets")
	}
	options.Command = args
	result, err := inject.Run(c.Context(), options)
	if result == nil {
		return err
	}
	if (err == nil || errors.Is(err, context.Canceled)) && len(result.ByRank) > 0 {
		if err := o.report(a, result); err != nil {
			return err
		}
	}
	return a.EndAsProgram(result.ExitCode, err)
}

// options turns the flags into what the injection wants.
func (o *injectOptions) options(a *env.Env) (inject.Options, error) {
	r := inject.Options{
		MPI: o.mpi, Gap: o.gap.Value, Base: -1, Panel: o.panel, Seed: o.seed, Sleep: o.sleep,
		Streams: mpi.Streams{In: a.Stdin, Out: env.Raw(a.Stdout), Err: env.Raw(a.Stderr)}, Note: a.Note, Warn: a.Warn,
	}
	for _, text := range o.latency {
		if err := r.Latency.Add(text); err != nil {
			return r, exit.Usagef("--latency: %v", err)
		}
	}
	if o.base.Given {
		r.Base = o.base.Value
	}
	if o.eager.Given {
		r.Eager = &o.eager.Value
	}
	if o.align == scenario.AlignCoscheduled {
		r.Alignment = noise.CoScheduled
	}
	switch {
	case len(o.latency) == 0 && o.noise == "" && o.gap.Given:
		return r, exit.Usagef("--gap-per-byte needs --latency, which may be 0")
	case len(o.latency) == 0 && o.noise == "":
		return r, exit.Usagef("give --latency or --noise, or both")
	case len(o.latency) == 0 && (o.gap.Given || o.base.Given || o.eager.Given || o.panel != "d"):
		return r, exit.Usagef("--gap-per-byte, --base, --eager-limit and --panel need --latency, which may be 0")
	case o.panel != "d" && (len(o.latency) > 1 || r.Latency.Selective()):
		return r, exit.Usagef("--panel %s needs one latency for all messages", o.panel)
	case o.format == env.FormatJSON && o.out == "":
		return r, exit.Usagef("--format json needs --out: the standard error is the program's, too")
	}
	if o.noise == "" {
		return r, nil
	}
	var err error
	r.Noise, err = noise.Find(o.noise)
	return r, err
}

// report describes what was done.
func (o *injectOptions) report(a *env.Env, r *inject.Result) error {
	if o.format != env.FormatJSON && o.out == "" {
		for _, line := range injectLines(r) {
			a.Note("%s", line)
		}
		return nil
	}
	return a.WriteOut(o.out, nil, func(w io.Writer) error {
		if o.format == env.FormatJSON {
			record := a.Record()
			if r.Noise != "" {
				record.Seed = &r.Seed
			}
			return env.WriteJSONObject(w, injectJSON{r, record})
		}
		for _, line := range injectLines(r) {
			io.WriteString(w, line+"\n")
		}
		return nil
	})
}

type injectJSON struct {
	*inject.Result
	Provenance *provenance.Record `json:"provenance"`
}
