package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/internal/input"
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
	program programOptions
	machine machineOptions
	noise   noiseOptions
	mapping string
	changes []whatif.Change // to the computation of the program
}

func newFutureOptions() futureOptions {
	return futureOptions{program: newProgramOptions(), machine: newMachineOptions(), noise: newNoiseOptions()}
}

// addTo gives a command the flags. --grid is among them: the process grid.
func (o *futureOptions) addTo(a *app, c *cobra.Command) {
	a.addGroup(c, "Machine (the run is simulated)", func(fs *pflag.FlagSet) {
		o.machine.addFlags(fs)
		fs.StringVar(&o.mapping, "mapping", "default", "`NAME|FILE` of the mapping by which collectives choose their algorithms: default, openmpi, mpich")
	})
	a.addGroup(c, "Noise of a simulated run", o.noise.addFlags)
	a.addGroup(c, "Pattern or recorded run that is simulated", o.program.addFlags)
	o.machine.complete(c)
	o.noise.complete(c)
	o.program.complete(c)
	completeWith(c, "mapping", collective.MappingNames)
}

// wanted reports whether the input is to be simulated: it is no recorded run, or
// flags describe a machine.
func (o *futureOptions) wanted(word string) bool {
	given := o.machine.override()
	return !input.IsTrace(word) || o.machine.name != "" || !given.IsZero()
}

// files are the words that may name files that are read.
func (o *futureOptions) files(word string) []string {
	return append([]string{word, o.machine.name, o.mapping}, o.noise.files()...)
}

// future is a simulated run.
type future struct {
	input    *input.Input
	timeline *timeline.Timeline
	result   *simulate.Result
	machine  string
	records  []provenance.Input
	change   *futureChange // nil: nothing was changed
}

// run simulates the input and returns its calls.
func (o *futureOptions) run(a *app, c *cobra.Command, word string, hash bool) (*future, error) {
	if err := o.noise.check(); err != nil {
		return nil, err
	}
	if input.IsSchedule(word) {
		o.program.ranks = nil // it has its own; a warning will say so
	}
	m, err := o.machine.machine(c)
	if err != nil {
		return nil, err
	}
	o.noise.aligned = c.Flags().Changed("offsets")
	o.noise.takeFrom(a, m)
	o.program.seedUsed = o.noise.random()
	mapping, err := collective.FindMapping(o.mapping)
	if err != nil {
		return nil, err
	}
	in, err := o.program.open(a, c, word, hash)
	if err != nil {
		return nil, err
	}
	a.warnOfRecordedNoise(in, &o.noise, &o.program)
	if err := checkMemory(in.Program.Ranks(), 1, memory.Available); err != nil {
		return nil, err
	}
	injection, err := o.noise.injection(source.Disk, m, in.Program.Ranks(), o.program.seed)
	if err != nil {
		return nil, err
	}
	options := simulate.Options{Mapping: mapping, Noise: injection}
	change, err := o.change(a, c, in, m, options)
	if err != nil {
		return nil, err
	}
	options.Calls = true
	result, err := a.simulate(c, in, m, options)
	if err != nil {
		return nil, err
	}
	if change != nil {
		change.after = result.Makespan
	}
	f := &future{input: in, timeline: result.Calls, result: result, machine: m.Name, change: change}
	f.records, err = o.records(in)
	return f, err
}

// records describes everything that was read.
func (o *futureOptions) records(in *input.Input) ([]provenance.Input, error) {
	list := []provenance.Input{in.Record}
	if file := o.machine.file(); file != "" {
		record, err := input.RecordFile(file, "machine")
		if err != nil {
			return nil, err
		}
		list = append(list, record)
	}
	for _, file := range o.noise.files() {
		record, err := input.RecordFile(file, "noise")
		if err != nil {
			return nil, err
		}
		list = append(list, record)
	}
	return list, nil
}
