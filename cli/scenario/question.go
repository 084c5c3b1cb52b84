package scenario

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"slackline/analyze/advise"
	"slackline/analyze/replay"
	"slackline/cli/flags"
	"slackline/internal/source"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/timeline"
)

// Question asks what pays in a program that the flags describe, on a machine; nil: the one that the messages of the recorded run show, in
// which case estimate has its flags. Recorded is nil if the program does not come from a run.
func (o *Options) Question(c *cobra.Command, name string, p schedule.Program, recorded *timeline.Timeline, m *machine.Machine,
	mapping *collective.Mapping) (q *advise.Question, estimate string, err error) {
	q = &advise.Question{Scenario: advise.Scenario{
		Program: p, Machine: m, Mapping: mapping, Model: o.Machine.Model(), Grid: o.Program.gridOf(recorded),
	}}
	machineWords := o.Machine.Words(c)
	r, isReplay := p.(*replay.Program)
	switch {
	case m != nil:
	case isReplay && r.Report().OwnMachine:
		q.Machine = ownMachine()
		machineWords = RecordedMachine()
	default:
		q.Machine = advise.Estimate(recorded)
		machineWords = advise.Flags(q.Machine)
		estimate = strings.Join(machineWords, " ")
	}
	noise, err := o.Noise.Describe(source.Disk, p.Ranks(), o.Program.Seed, false)
	if err != nil {
		return nil, "", err
	}
	if !noise.IsZero() {
		q.Noise = &noise
	}
	names := slices.Concat(ParameterNames(), []string{"scale-compute", "denoise", "partial", "mapping", "model"}, NoiseFlags)
	q.Words = slices.Concat([]string{flags.Tool, "waits", name}, machineWords, flags.Words(c, names...))
	if isReplay {
		q.Measured = r.Report().Span
	}
	if recorded != nil {
		q.Source = advise.SourceOf(recorded)
		if len(q.Grid) > 0 && !c.Flags().Changed("grid") {
			grid := flags.Grid(q.Grid)
			q.Words = append(q.Words, "--grid", grid.String())
		}
	}
	return q, estimate, nil
}
