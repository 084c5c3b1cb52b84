package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/input"
	"slackline/model/schedule"
)

type convertOptions struct {
	program programOptions
	output  scheduleOutput
	join    choice
	repeat  int
	trace   traceOutput
}

// How several schedules become one.
const (
	joinAfter  = "after"
	joinBeside = "beside"
)

func (a *app) convertCommand() *cobra.Command {
	o := &convertOptions{
		program: newProgramOptions(), output: newScheduleOutput(),
		join: newChoice(joinAfter, joinAfter, joinBeside),
	}
	o.output.others = traceFormatNames()
	c := &cobra.Command{
		Use:   "convert INPUT...",
		Short: "Turn a schedule or a trace from one format into another, a trace into a schedule, or several schedules into one.",
		Annotations: arguments("INPUT",
			"a schedule file (GOAL text, LogGOPSim binary, slackline schedule) or a recorded run (slackline trace, "+
				"OTF2 archive, liballprof's files, trace as text), told by its content; "+
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
  slackline convert run.slt --out run.goal`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exactArgs("INPUT")(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	a.addGroup(c, "Output", o.output.addFlags)
	c.Flags().Lookup("to").Usage = "`format`: " + strings.Join(formatNames(), ", ") + " of schedules, " +
		strings.Join(traceFormatNames(), ", ") + " of traces (default: by the suffix of --out)"
	c.Flags().Lookup("out").Usage = "write to this `file`, or directory of a trace; - is the standard output"
	a.addGroup(c, "Trace", o.trace.addFlags)
	a.addGroup(c, "Composition", o.addFlags)
	a.addGroup(c, "Pattern or recorded run (no influence on schedule files)", o.program.addFlags)
	c.ValidArgsFunction = func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return completeInput(c, nil, prefix) // also behind the first input
	}
	o.program.complete(c)
	o.output.complete(c)
	complete(c, "join", o.join.allowed)
	return c
}

func (o *convertOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(&o.join, "join", "how several inputs become one: one after the other on the same ranks, or beside each other as jobs on ranks of their own")
	fs.IntVar(&o.repeat, "repeat", 1, "`number` of times that the whole is carried out, 1 or more")
}

func (o *convertOptions) run(a *app, c *cobra.Command, args []string) error {
	o.trace.partial = o.program.partial
	if f, ok := o.output.traceFormat(); ok {
		return o.trace.convert(a, c, args, f, o.output.out)
	}
	for _, name := range []string{"force", "request-size"} {
		if c.Flags().Changed(name) {
			a.warn("--%s has no influence: no trace is written", name)
		}
	}
	o.program.strict = o.trace.strict
	if _, err := o.output.format(c); err != nil {
		return err
	}
	if err := checkOut(o.output.out, args); err != nil { // before a long run, not after it
		return err
	}
	if o.repeat < 1 {
		return usagef("--repeat: give at least 1")
	}
	if len(args) == 1 && c.Flags().Changed("join") {
		a.warn("--join has no influence: there is only one input")
	}
	var programs []schedule.Program
	var in *input.Input
	for _, word := range args {
		var err error
		if in, err = o.program.open(a, c, word, false); err != nil {
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
	return o.output.write(a, c, in, args)
}

// compose joins the programs and repeats the whole.
func (o *convertOptions) compose(programs []schedule.Program) (schedule.Program, error) {
	join := schedule.Concat
	if o.join.value == joinBeside {
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
