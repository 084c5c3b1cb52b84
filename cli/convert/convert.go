// Package convert is the verb convert: it converts schedules and traces between formats.
package convert

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/export"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/model/schedule"
)

type convertOptions struct {
	program scenario.ProgramOptions
	output  export.ScheduleOutput
	join    string
	repeat  int
	trace   traceOutput
}

// How several schedules become one.
const (
	joinAfter  = "after"
	joinBeside = "beside"
)

// Verb is the entry of the registry.
var Verb = env.Verb{Name: "convert", Group: env.Prepare, Job: env.FirstOnly, New: command}

func command(a *env.Env) *cobra.Command {
	o := &convertOptions{}
	o.output.Others = append(export.TraceFormatNames(), export.ColumnFormatNames()...)
	c := &cobra.Command{
		Use:   "convert INPUT...",
		Short: "Convert a schedule or a trace to another format, a trace to a schedule, or several schedules to one.",
		Annotations: flags.Arguments("INPUT",
			"a schedule file (GOAL text, LogGOPSim binary, slackline schedule, Chakra execution traces) or a recorded run (slackline trace, "+
				"OTF2 archive, liballprof's or Paraver's files, Chrome trace events, trace as text), recognized by its content; "+
				"- for a schedule from the standard input; or the name of a pattern"),
		Example: `  slackline convert run.goal --to slk --out run.slk
  slackline convert run.bin --out run.goal
  slackline convert run.slk --to dot --out run.dot
  slackline convert run.slk --to goal | less
  slackline convert compute.goal exchange.goal --repeat 10 --out iterations.slk
  slackline convert job1.goal job2.goal --join beside --out both.slk
  slackline convert run.slt --to otf2 --out run-otf2
  slackline convert scorep-run/traces.otf2 --out run.slt
  slackline convert run.slt --out run.pftrace
  slackline convert run.slt --to trace-text | less
  slackline convert run.slt --out run.goal
  slackline convert run.slt --to parquet --out tables
  slackline convert run.slt --to arrow --out tables`,
		Args: flags.AtLeastOne("INPUT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	a.AddGroup(c, "Output", o.output.AddFlags)
	c.Flags().Lookup("to").Usage = "`format`: " + strings.Join(export.FormatNames(), ", ") + " of schedules, " +
		strings.Join(export.TraceFormatNames(), ", ") + " of traces, " +
		strings.Join(export.ColumnFormatNames(), ", ") + " for tables of a recorded run and of what 'profile' and 'waits' find in it " +
		"(default: by the suffix of --out)"
	c.Flags().Lookup("out").Usage = "write to this `file`, or directory of a trace or of tables; - is the standard output"
	a.AddGroup(c, "Trace", o.trace.addFlags)
	a.AddGroup(c, "Composition", o.addFlags)
	a.AddGroup(c, "Pattern or recorded run (no influence on schedule files)", o.program.AddFlags)
	c.ValidArgsFunction = func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return scenario.CompleteInput(c, nil, prefix) // also after the first input
	}
	o.program.Complete(c)
	o.output.Complete(c)
	return c
}

func (o *convertOptions) addFlags(fs *pflag.FlagSet) {
	flags.AddChoice(fs, &o.join, "join", "how several inputs become one: one after the other on the same ranks, or beside each other as "+
		"jobs on ranks of their own", joinAfter, joinAfter, joinBeside)
	flags.AddNumber(fs, &o.repeat, "repeat", 1, flags.AtLeast(1), "`number` of times that the whole is carried out, 1 or more")
}

func (o *convertOptions) run(a *env.Env, c *cobra.Command, args []string) error {
	o.trace.partial = o.program.Partial
	if f, ok := o.output.ColumnFormat(); ok {
		return o.trace.columns(a, c, args, f, o.output.Out)
	}
	if f, ok := o.output.TraceFormat(); ok {
		return o.trace.convert(a, c, args, f, o.output.Out)
	}
	a.WarnOfVoid(c, ": no trace is written", "force", "request-size")
	o.program.Strict = o.trace.strict
	if _, err := o.output.Format(c); err != nil {
		return err
	}
	if err := env.CheckOut(o.output.Out, args); err != nil { // before a long run, not after it
		return err
	}
	if i := slices.Index(args, "-"); i >= 0 && slices.Contains(args[i+1:], "-") {
		return exit.Usagef("- is given more than once, but the standard input can be read once; write it to a file first")
	}
	if len(args) == 1 {
		a.WarnOfVoid(c, ": there is only one input", "join")
	}
	var programs []schedule.Program
	var in *input.Input
	for _, word := range args {
		var err error
		if in, err = o.program.Open(a, c, word, false); err != nil {
			return err
		}
		programs = append(programs, in.Program)
	}
	if len(args) > 1 || o.repeat > 1 {
		program, err := o.compose(programs)
		if err != nil {
			return err
		}
		in = &input.Input{Name: strings.Join(args, " and "), Program: program}
	}
	return o.output.Write(a, c, in, args)
}

// compose joins the programs and repeats the whole.
func (o *convertOptions) compose(programs []schedule.Program) (schedule.Program, error) {
	join := schedule.Concat
	if o.join == joinBeside {
		join = schedule.SideBySide
	}
	p := programs[0]
	if len(programs) > 1 {
		var err error
		if p, err = join(programs...); err != nil {
			return nil, err
		}
	}
	if o.repeat > 1 {
		return schedule.Repeat(p, o.repeat)
	}
	return p, nil
}
