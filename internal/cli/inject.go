package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/provenance"
	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/observe/inject"
	"slackline/observe/mpi"
)

type injectOptions struct {
	latency []string
	gap     quantity[unit.PerByte]
	base    quantity[unit.Duration]
	eager   quantity[unit.Size]
	panel   choice

	noise string
	align choice
	seed  uint64

	mpi    string
	sleep  choice
	out    string
	format choice
}

func (a *app) injectCommand() *cobra.Command {
	o := &injectOptions{
		gap: perByteFlag(), base: durationFlag(), eager: sizeFlag(), panel: newChoice("d", "b", "c", "d"),
		align: newChoice(alignIndependent, alignIndependent, alignCoscheduled),
		sleep: newChoice("auto", "auto", "on", "off"), format: newChoice(formatText, formatText, formatJSON),
	}
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
  slackline inject --latency 50us --noise altix --out report.json --format json -- mpirun -n 2 ./app`,
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	takesCommand(c, func() bool { return true })
	a.addGroup(c, "Latency", o.addLatencyFlags)
	a.addGroup(c, "Noise", o.addNoiseFlags)
	a.addGroup(c, "MPI", o.addMPIFlags)
	a.addGroup(c, "Output", o.addOutputFlags)
	complete(c, "panel", o.panel.allowed)
	complete(c, "offsets", o.align.allowed)
	complete(c, "sleep", o.sleep.allowed)
	complete(c, "format", o.format.allowed)
	completeWith(c, "noise", noise.Names)
	return c
}

func (o *injectOptions) addLatencyFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&o.latency, "latency", nil, "`TIME[@PAIRS]` added to messages, e.g. 100us, or 100us@0-3,1-* between these ranks in both directions, '100us@0>3' in one; 0..3 are several ranks, * all; later ones replace earlier ones")
	fs.Var(&o.gap, "gap-per-byte", "time that each further byte of a message takes in addition, e.g. 0.1ns; messages of a rank leave one after another")
	fs.Var(&o.base, "base", "what a message takes by itself (default: half of the least round-trip time, measured at MPI_Init for sizes up to 4 MiB)")
	fs.Var(&o.eager, "eager-limit", "larger messages than this `size` have a handshake, of which each part gets the latency (default: as the MPI does, measured at MPI_Init)")
	fs.Var(&o.panel, "panel", "for comparison, what naive ways of injecting do: b delays the sender, c delays messages one after another")
}

func (o *injectOptions) addNoiseFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.noise, "noise", "", "`SPEC|NAME|FILE` of the noise on all ranks, e.g. 100Hz:200us, as for simulate")
	fs.Uint64Var(&o.seed, "seed", 0, "`number` from which the noise and the ranks' offsets in it are drawn, as for simulate")
	fs.Var(&o.align, "offsets", "who shares an offset in the noise: nobody, or all ranks (co-scheduling)")
}

func (o *injectOptions) addMPIFlags(fs *pflag.FlagSet) {
	addProgramMPI(fs, &o.mpi)
	fs.Var(&o.sleep, "sleep", "ranks that are held give up the CPU; auto: if there are more ranks than CPUs")
}

func (o *injectOptions) addOutputFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.out, "out", "", "`file` for the report (default: the standard error)")
	fs.Var(&o.format, "format", "form of the report")
}

func (o *injectOptions) run(a *app, c *cobra.Command, args []string) error {
	options, err := o.options(a)
	if err != nil {
		return err
	}
	if err := checkOutputs(nil, output{"out", o.out}); err != nil {
		return err
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
	return a.endAsProgram(result.ExitCode, err)
}

// options turns the flags into what the injection wants.
func (o *injectOptions) options(a *app) (inject.Options, error) {
	r := inject.Options{
		MPI: o.mpi, Gap: o.gap.value, Base: -1, Panel: o.panel.value, Seed: o.seed, Sleep: o.sleep.value,
		Streams: mpi.Streams{In: a.stdin, Out: raw(a.stdout), Err: raw(a.stderr)}, Note: a.note, Warn: a.warn,
	}
	for _, text := range o.latency {
		if err := r.Latency.Add(text); err != nil {
			return r, usagef("--latency: %v", err)
		}
	}
	if o.base.given {
		r.Base = o.base.value
	}
	if o.eager.given {
		r.Eager = &o.eager.value
	}
	if o.align.value == alignCoscheduled {
		r.Alignment = noise.CoScheduled
	}
	switch {
	case len(o.latency) == 0 && o.noise == "" && o.gap.given:
		return r, usagef("--gap-per-byte needs --latency, which may be 0")
	case len(o.latency) == 0 && o.noise == "":
		return r, usagef("give --latency or --noise, or both")
	case len(o.latency) == 0 && (o.gap.given || o.base.given || o.eager.given || o.panel.value != "d"):
		return r, usagef("--gap-per-byte, --base, --eager-limit and --panel need --latency, which may be 0")
	case o.panel.value != "d" && (len(o.latency) > 1 || r.Latency.Selective()):
		return r, usagef("--panel %s needs one latency for all messages", o.panel.value)
	case o.format.value == formatJSON && o.out == "":
		return r, usagef("--format json needs --out: the standard error is the program's, too")
	}
	if o.noise == "" {
		return r, nil
	}
	var err error
	r.Noise, err = noise.Find(o.noise)
	return r, err
}

// report tells what was done.
func (o *injectOptions) report(a *app, r *inject.Result) error {
	if o.format.value != formatJSON && o.out == "" {
		for _, line := range injectLines(r) {
			a.note("%s", line)
		}
		return nil
	}
	return a.writeOut(o.out, nil, func(w io.Writer) error {
		if o.format.value == formatJSON {
			record := provenance.New(a.args)
			record.Warnings = append(record.Warnings, a.warnings...)
			if r.Noise != "" {
				record.Seed = &r.Seed
			}
			return writeJSONObject(w, injectJSON{r, record})
		}
		for _, line := range injectLines(r) {
			if _, err := io.WriteString(w, line+"\n"); err != nil {
				return err
			}
		}
		return nil
	})
}

type injectJSON struct {
	*inject.Result
	Provenance *provenance.Record `json:"provenance"`
}
