package scenario

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/input"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/model/collective"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// addTo gives a command the flags, for a verb that simulates what it analyzes. --grid is among them: the process grid.
func (o *Options) addTo(a *env.Env, c *cobra.Command) {
	a.AddGroup(c, "Machine (the run is simulated)", func(fs *pflag.FlagSet) {
		o.Machine.AddFlags(fs)
		o.Machine.AddModel(fs)
		AddMapping(fs, &o.Mapping)
	})
	a.AddGroup(c, "Noise of a simulated run", o.Noise.AddFlags)
	a.AddGroup(c, "Pattern or recorded run that is simulated", o.Program.AddFlags)
	o.Complete(c)
}

// future is a simulated run.
type future struct {
	Input    *input.Input
	Timeline *timeline.Timeline
	result   *simulate.Result
	Machine  string
	records  []provenance.Input
	change   *futureChange // nil: nothing was changed
}

// Run simulates the input and returns its calls.
func (o *Options) Run(a *env.Env, c *cobra.Command, word string, hash bool) (*future, error) {
	if err := o.Check(a, c, word); err != nil {
		return nil, err
	}
	s, err := o.Resolve(a, c)
	if err != nil {
		return nil, err
	}
	if !o.Machine.isStatic() {
		o.Program.ToRun = &input.ToRun{}
	}
	in, err := s.Open(word, hash)
	if err != nil {
		return nil, err
	}
	injection, err := s.Injection(in.Program.Ranks())
	if err != nil {
		return nil, err
	}
	options := simulate.Options{Model: o.Machine.Model(), Mapping: s.Mapping, Noise: injection}
	m := s.Machine
	change, err := o.change(a, c, in, &m, &options)
	if err != nil {
		return nil, err
	}
	options.Calls = true
	result, err := Simulate(a, c, in, m, options)
	if err != nil {
		return nil, err
	}
	o.Program.WarnOfMapping(a, c, in)
	if change != nil {
		change.after = result.Makespan
	}
	record, err := s.Provenance(in)
	if err != nil {
		return nil, err
	}
	name := s.Machine.Name
	if o.Machine.isStatic() {
		name += ", model " + string(simulate.LogGPS)
	}
	return &future{Input: in, Timeline: result.Calls, result: result, Machine: name, records: record.Inputs, change: change}, nil
}

// IdealTime simulates the input on a network without latency, overhead and cost per byte.
func (o *Options) IdealTime(a *env.Env, c *cobra.Command, word string) (unit.Duration, error) {
	o.Program.ToRun = &input.ToRun{}
	in, err := o.Program.Open(a, c, word, false)
	if err != nil {
		return 0, err
	}
	mapping, err := collective.FindMapping(o.Mapping)
	if err != nil {
		return 0, err
	}
	ideal := whatif.IdealNetwork()
	injection, err := o.Noise.injection(source.Disk, ideal, in.Program.Ranks(), o.Program.Seed)
	if err != nil {
		return 0, err
	}
	result, err := simulate.Run(c.Context(), in.Program, ideal, simulate.Options{Model: o.Machine.Model(), Mapping: mapping, Noise: injection})
	if err != nil {
		return 0, err
	}
	return result.Makespan, nil
}
