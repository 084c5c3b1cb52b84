// Package hang is the verb hang: it says why a recorded program stands still.
package hang

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/hang"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/observe/record"
)

type hangOptions struct {
	apart  time.Duration
	result env.ResultFlags
	top    int
	inputs []string // with the files of raw directories
}

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "hang", Group: env.Observe, Job: env.OnceOnly, New: command,
	Documents: env.Documents{"hang": {Document{}}},
}

func command(a *env.Env) *cobra.Command {
	o := &hangOptions{apart: 300 * time.Millisecond}
	c := &cobra.Command{
		Use:   "hang DIR|PID...",
		Short: "Find out why a program under 'slackline record' stands still: who waits for whom, and what the likely mistake is.",
		Long: "Find out why a program under 'slackline record' stands still, while it runs or after it was killed, " +
			"from the raw files of the recorder. " +
			"It looks twice, to see who still moves, and tells a deadlock from a rank that is only slow. " +
			"Of dumps of PyTorch's Flight Recorder it says which ranks have not come to a collective that others are in.\n" +
			"Exit code: 0 no rank is stuck, 3 some can never go on, 4 it is unknown, or a rank may be in an endless loop.",
		Annotations: flags.Arguments("DIR", "directory of raw files (.app.slt-raw-123456), the trace that they will become (app.slt), "+
			"or the directory in which they are; several: those of hosts that share none; or JSON dumps of Flight Recorder", "PID",
			"process of the run on this host: a rank, the launcher, or slackline"),
		Example: `  slackline hang .app.slt-raw-1234567
  slackline hang app.slt
  slackline hang 4711
  slackline hang $(pgrep -u $USER -x app | head -1) --format json
  slackline hang app.slt --apart 5s`,
		Args: flags.AtLeastOne("DIR or PID"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	a.AddGroup(c, "Looks", func(fs *pflag.FlagSet) {
		fs.Var((*flags.Time)(&o.apart), "apart", "time between the two looks")
	})
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		flags.AddNumber(fs, &o.top, "top", 20, flags.AtLeast(0), "`number` of rows in the text output; 0: all")
		o.result.AddFlags(fs, "form of the output")
	})
	return c
}

func (o *hangOptions) run(a *env.Env, c *cobra.Command, args []string) error {
	if o.apart < 0 || o.apart > time.Hour {
		return exit.Usagef("--apart: give a time from 0 to 1h, not %s", o.apart)
	}
	if err := o.result.Check(args); err != nil {
		return err
	}
	o.inputs = args
	if len(args) == 1 {
		dumps, err := input.OpenDumps(c.Context(), args[0])
		if err != nil {
			return err
		}
		if dumps != nil {
			for _, text := range dumps.Warnings {
				a.Warn("%s", text)
			}
			return o.write(a, dumpReport(dumps))
		}
	}
	var dirs []string
	for _, word := range args {
		dir, err := record.RawDir(word)
		if err != nil {
			return err
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*")) // what is wrong with them is found when they are read
		o.inputs = append(o.inputs, files...)
	}
	if err := o.result.Check(o.inputs); err != nil {
		return err
	}
	sight, err := record.Look(c.Context(), dirs, o.apart)
	if err != nil {
		return err
	}
	const most = 10
	for i, f := range sight.Faults {
		if i == most {
			a.Warn("%d further raw files are damaged, or not there", len(sight.Faults)-most)
			break
		}
		a.Warn("%v", f)
	}
	return o.write(a, newReport(sight))
}

// write writes a report; the exit code says what it is.
func (o *hangOptions) write(a *env.Env, r *report) error {
	r.top = o.top
	if err := a.WriteResult("hang", r, &o.result, o.inputs); err != nil {
		return err
	}
	return exitOf(r.verdict.Outcome)
}

// exitOf is how the verb ends.
func exitOf(o hang.Outcome) error {
	switch o {
	case hang.Hang:
		return exit.Verdict(exit.CheckFailed)
	case hang.Endless, hang.Unknown:
		return exit.Verdict(exit.Inconclusive)
	}
	return nil
}
