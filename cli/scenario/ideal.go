package scenario

import (
	"github.com/spf13/cobra"

	"slackline/analyze/simulate"
	"slackline/cli/env"
	"slackline/cli/input"
	"slackline/internal/source"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/unit"
)

// IdealTime simulates the input on a network without latency, overhead and cost per byte.
func (o *futureOptions) IdealTime(a *env.Env, c *cobra.Command, word string) (unit.Duration, error) {
	if input.IsSchedule(word) {
		o.Program.Ranks = nil
	}
	in, err := o.Program.Open(a, c, word, false)
	if err != nil {
		return 0, err
	}
	mapping, err := collective.FindMapping(o.Mapping)
	if err != nil {
		return 0, err
	}
	ideal := machine.FromParams("an ideal network", machine.Params{
		Overhead: machine.One(unit.Duration(0)), PerByte: machine.One(unit.PerByte(0)), Eager: machine.NoLimit,
	})
	injection, err := o.Noise.Injection(source.Disk, ideal, in.Program.Ranks(), o.Program.Seed)
	if err != nil {
		return 0, err
	}
	result, err := simulate.Run(c.Context(), in.Program, ideal, simulate.Options{Mapping: mapping, Noise: injection})
	if err != nil {
		return 0, err
	}
	return result.Makespan, nil
}
