package cli

import (
	"github.com/spf13/cobra"
)

type convertOptions struct {
	program programOptions
	output  scheduleOutput
}

func (a *app) convertCommand() *cobra.Command {
	o := &convertOptions{program: newProgramOptions(), output: newScheduleOutput()}
	c := &cobra.Command{
		Use:   "convert INPUT",
		Short: "Turn a schedule from one format into another.",
		Annotations: arguments("INPUT",
			"a schedule file (GOAL text, LogGOPSim binary, slackline schedule, DOT), told by its content; "+
				"- for the standard input; or the name of a pattern"),
		Example: `  slackline convert run.goal --to slk --out run.slk
  slackline convert run.bin --out run.goal
  slackline convert run.slk --to dot --out run.dot
  slackline convert run.slk --to goal | less`,
		Args: exactArgs("INPUT"),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := o.output.format(c); err != nil {
				return err
			}
			in, err := o.program.open(a, c, args[0], false)
			if err != nil {
				return err
			}
			return o.output.write(a, c, in)
		},
	}
	a.addGroup(c, "Output", o.output.addFlags)
	a.addGroup(c, "Pattern (no influence on files)", o.program.addFlags)
	c.ValidArgsFunction = completeInput
	o.program.complete(c)
	o.output.complete(c)
	return c
}
