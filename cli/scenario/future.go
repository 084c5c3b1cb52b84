package scenario

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/internal/memory"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/model/collective"
	"slackline/model/timeline"
)

// futureOptions are the flags by which a verb that analyses runs simulates one: a
// program on a machine, with noise if that is wanted. A recorded run is
// simulated if a machine is given, and taken as it is otherwise.
type futureOptions struct {
	Program ProgramOptions
	Machine MachineOptions
	Noise   NoiseOptions
	Mapping string
	changes []whatif.Change // to the computation of the program
}

func newFutureOptions() futureOptions {
	return futureOptions{Program: NewProgramOptions(), Machine: NewMachineOptions(), Noise: NewNoiseOptions()}
}

// addTo gives a command the flags. --grid is among them: the process grid.
func (o *futureOptions) addTo(a *env.Env, c *cobra.Command) {
	a.AddGroup(c, "Machine (the run is simulated)", func(fs *pflag.FlagSet) {
		o.Machine.AddFlags(fs)
		fs.StringVar(&o.Mapping, "mapping", "default", "`NAME|FILE` of the mapping by which collectives choose their algorithms: default, openmpi, mpich")
	})
	a.AddGroup(c, "Noise of a simulated run", o.Noise.AddFlags)
	a.AddGroup(c, "Pattern or recorded run that is simulated", o.Program.AddFlags)
	o.Machine.Complete(c)
	o.Noise.Complete(c)
	o.Program.Complete(c)
	flags.CompleteWith(c, "mapping", collective.MappingNames)
}

// wanted reports whether the input is to be simulated: it is no recorded run, or
// flags describe a machine.
func (o *futureOptions) wanted(word string) bool {
	given := o.Machine.Override()
	return !input.IsTrace(word) || o.Machine.Name != "" || !given.IsZero()
}

// Files are the words that may name files that are read.
func (o *futureOptions) Files(word string) []string {
	return append([]string{word, o.Machine.Name, o.Mapping}, o.Noise.Files()...)
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
func (o *futureOptions) Run(a *env.Env, c *cobra.Command, word string, hash bool) (*future, error) {
	if err := o.Noise.Check(); err != nil {
		return nil, err
	}
	if input.IsSchedule(word) {
		o.Program.Ranks = nil // it has its own; a warning will say so
	}
	m, err := o.Machine.Machine(c)
	if err != nil {
		return nil, err
	}
	o.Noise.Aligned = c.Flags().Changed("offsets")
	o.Noise.TakeFrom(a, m)
	o.Program.SeedUsed = o.Noise.Random()
	mapping, err := collective.FindMapping(o.Mapping)
	if err != nil {
		return nil, err
	}
	in, err := o.Program.Open(a, c, word, hash)
	if err != nil {
		return nil, err
	}
	WarnOfRecordedNoise(a, in, &o.Noise, &o.Program)
	if err := CheckMemory(in.Program.Ranks(), 1, memory.Available); err != nil {
		return nil, err
	}
	injection, err := o.Noise.Injection(source.Disk, m, in.Program.Ranks(), o.Program.Seed)
	if err != nil {
		return nil, err
	}
	options := simulate.Options{Mapping: mapping, Noise: injection}
	change, err := o.change(a, c, in, m, options)
	if err != nil {
		return nil, err
	}
	options.Calls = true
	result, err := Simulate(a, c, in, m, options)
	if err != nil {
		return nil, err
	}
	if change != nil {
		change.after = result.Makespan
	}
	f := &future{Input: in, Timeline: result.Calls, result: result, Machine: m.Name, change: change}
	f.records, err = o.records(in)
	return f, err
}

// records describes everything that was read.
func (o *futureOptions) records(in *input.Input) ([]provenance.Input, error) {
	list := []provenance.Input{in.Record}
	if file := o.Machine.File(); file != "" {
		record, err := input.RecordFile(file, "machine")
		if err != nil {
			return nil, err
		}
		list = append(list, record)
	}
	for _, file := range o.Noise.Files() {
		record, err := input.RecordFile(file, "noise")
		if err != nil {
			return nil, err
		}
		list = append(list, record)
	}
	return list, nil
}
