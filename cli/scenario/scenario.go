package scenario

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/advise"
	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/internal/memory"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/noise"
)

// Options are the flags of a scenario: a program on a machine, with noise, and the mapping that turns its collectives into
// messages.
type Options struct {
	Program ProgramOptions
	Machine MachineOptions
	Noise   NoiseOptions
	Mapping string
	changes []whatif.Change // to the computation of the program
	edits   []advise.Change // to anything

	balanceBy string // strategy of the changes that balance
}

// AddMapping adds the flag --mapping.
func AddMapping(fs *pflag.FlagSet, mapping *string) {
	fs.StringVar(mapping, "mapping", "default", "`NAME|FILE` of the mapping by which collectives choose their algorithms: default, "+
		"openmpi, mpich, nccl")
}

// Complete offers names where the flags take them.
func (o *Options) Complete(c *cobra.Command) {
	o.Machine.Complete(c)
	o.Noise.Complete(c)
	o.Program.Complete(c)
	flags.CompleteWith(c, "mapping", collective.MappingNames)
}

// Files are the words that may name files that are read.
func (o *Options) Files(words ...string) []string {
	return slices.Concat(words, []string{o.Machine.Name, o.Mapping}, o.Noise.Files())
}

// Check finds flags that contradict each other, and what the words name. In a job process 0 looks at them for all.
func (o *Options) Check(a *env.Env, c *cobra.Command, words ...string) error {
	o.Noise.Aligned = c.Flags().Changed("offsets")
	if err := o.Noise.Check(); err != nil {
		return err
	}
	return o.Program.FindKinds(c.Context(), a, words...)
}

// Scenario is what the flags stand for.
type Scenario struct {
	*Options // with the noise of the machine
	Machine  *machine.Machine
	Mapping  *collective.Mapping

	env     *env.Env
	command *cobra.Command
}

// Resolve reads the machine and the mapping. In a job process 0 reads them for all.
func (o *Options) Resolve(a *env.Env, c *cobra.Command) (*Scenario, error) {
	s := &Scenario{Options: o, env: a, command: c}
	_, err := env.ReadOnce(c.Context(), a, func(from source.Source) (none struct{}, err error) {
		if s.Machine, err = o.Machine.MachineFrom(from, c); err == nil {
			s.Mapping, err = collective.FindMappingFrom(from, o.Mapping)
		}
		return none, err
	})
	if err != nil {
		return nil, err
	}
	o.Noise.TakeFrom(a, s.Machine)
	if o.Machine.isStatic() && (o.Noise.Random() || len(o.Noise.Delays) > 0) {
		return nil, exit.Usagef("the model %s has no noise and no delays; use the model %s, or --noise %s", simulate.LogGPS, simulate.LogGOPS,
			NoNoise)
	}
	o.Program.SeedUsed = o.Noise.Random()
	return s, nil
}

// Open opens the input that a word names.
func (s *Scenario) Open(word string, hash bool) (*input.Input, error) {
	in, err := s.Program.Open(s.env, s.command, word, hash)
	if err != nil {
		return nil, err
	}
	if name := s.Noise.Name(); in.Replay != nil && name != "" && !s.Program.denoise.Given {
		s.env.Warn("%s contains the noise of the machine where it was recorded, and %s comes on top; --denoise takes it out of "+
			"repeated computations", in.Name, name)
	}
	return in, CheckMemory(in.Program.Ranks()/s.env.Group().Size(), s.env.ProcessesHere(), memory.Available)
}

// Injection returns the noise of a single run; nil: none.
func (s *Scenario) Injection(ranks int) (*noise.Injection, error) {
	return env.ReadOnce(s.command.Context(), s.env, func(from source.Source) (*noise.Injection, error) {
		return s.Noise.injection(from, s.Machine, ranks, s.Program.Seed)
	})
}

// Provenance records where a result comes from.
func (s *Scenario) Provenance(in *input.Input) (*provenance.Record, error) {
	var mappings []string
	if s.Program.Mapped(in) {
		mappings = []string{s.Options.Mapping}
	}
	return s.Options.Provenance(s.env, s.Machine, []*input.Input{in}, mappings)
}

// File is a file that was read, and what it is.
type File struct{ Path, Kind string }

// Provenance records where a result comes from: inputs, files, the machine, the seed if it matters, and warnings.
func (o *Options) Provenance(a *env.Env, m *machine.Machine, inputs []*input.Input, mappings []string, more ...File) (*provenance.Record,
	error) {
	r := a.Record()
	for _, in := range inputs {
		r.Inputs = append(r.Inputs, in.Record)
	}
	files := append([]File{{o.Machine.File(), "machine"}}, more...)
	for _, name := range mappings {
		if !slices.Contains(collective.MappingNames(), name) {
			files = append(files, File{name, "mapping"})
		}
	}
	for _, file := range o.Noise.Files() {
		files = append(files, File{file, "noise"})
	}
	for _, f := range files {
		if f.Path == "" {
			continue
		}
		record, err := input.RecordFile(f.Path, f.Kind)
		if err != nil {
			return nil, err
		}
		r.Inputs = append(r.Inputs, record)
	}
	described := map[string]string{"name": m.Name}
	if text := machine.Format(m); len(text) <= maxMachineText {
		described["description"] = string(text)
	}
	r.Machine = described
	if o.Noise.Random() || slices.ContainsFunc(inputs, func(in *input.Input) bool { return !in.IsFile() }) {
		r.Seed = &o.Program.Seed
	}
	return r, nil
}

// maxMachineText is the longest machine description that a result repeats. Only
// placements listed rank by rank are longer.
const maxMachineText = 1 << 16
