package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/source"
	"slackline/model/machine"
	"slackline/model/unit"
)

// MachineOptions are the flags that describe the machine: a name or file, and
// the model's parameters by their letters.
type MachineOptions struct {
	Name     string
	Latency  flags.Quantity[unit.Duration]
	overhead flags.Quantity[unit.Duration]
	gap      flags.Quantity[unit.Duration]
	perByte  flags.Quantity[unit.PerByte]
	CpuByte  flags.Quantity[unit.PerByte]
	Eager    flags.Quantity[unit.Size]
	faster   flags.Factor // of the network
	model    simulate.Model

	OnlyLatency bool // without a machine, o, g and G are 0 unless they are given
}

// AddModel adds the flag --model, for verbs that simulate one.
func (o *MachineOptions) AddModel(fs *pflag.FlagSet) {
	flags.AddChoice(fs, &o.model, "model", "model of the network: with contention (loggops) or static (loggps)", simulate.LogGOPS,
		simulate.LogGOPS, simulate.LogGPS)
}

// Model is the model of the network.
func (o *MachineOptions) Model() simulate.Model { return cmp.Or(o.model, simulate.LogGOPS) }

// isStatic reports whether the model is the static one, which has neither noise nor O, and does without g.
func (o *MachineOptions) isStatic() bool { return o.Model() == simulate.LogGPS }

func (o *MachineOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Name, "machine", "", "`NAME|FILE` of an embedded machine ('slackline machine list') or a machine file; recorded: that "+
		"of a recorded run with accelerators, on which communication takes as long as it took")
	fs.VarP(&o.Latency, "latency", "L", "latency: a `time` with unit, e.g. 2.5us")
	fs.VarP(&o.overhead, "overhead", "o", "CPU `time` of a message at each end (overhead)")
	fs.VarP(&o.gap, "gap", "g", "minimum `time` between two messages at a NIC (gap)")
	fs.VarP(&o.perByte, "gap-per-byte", "G", "`time` per byte of a message at a NIC, e.g. 0.018ns")
	fs.VarP(&o.CpuByte, "overhead-per-byte", "O", "CPU `time` per byte of a message (default 0)")
	fs.VarP(&o.Eager, "eager-limit", "S", "messages of more than this `size` rendezvous (default: none do)")
	fs.Var(&o.faster, "scale-network", "a network faster by this `factor`, e.g. 10 or 0.1: L, g and G are divided by it, o stays")
}

func (o *MachineOptions) Complete(c *cobra.Command) {
	flags.CompleteWith(c, "machine", func() []string { return append(machine.Names(), recordedMachine) })
}

// Override returns the parameters that were given.
func (o *MachineOptions) Override() machine.Override {
	return machine.Override{
		Latency: o.Latency.Pointer(), Overhead: o.overhead.Pointer(), Gap: o.gap.Pointer(),
		PerByte: o.perByte.Pointer(), CPUByte: o.CpuByte.Pointer(), Eager: o.Eager.Pointer(),
	}
}

// Machine returns the machine that the flags describe, with the network as fast
// as asked for.
func (o *MachineOptions) Machine(c *cobra.Command) (*machine.Machine, error) {
	return o.MachineFrom(source.Disk, c)
}

// MachineFrom is machine with files from a source.
func (o *MachineOptions) MachineFrom(from source.Source, c *cobra.Command) (*machine.Machine, error) {
	m, err := o.described(from, c)
	if err != nil || !o.faster.Given {
		return m, err
	}
	if m, err = machine.ScaleNetwork(m, o.faster.Value); err != nil {
		return nil, fmt.Errorf("--scale-network: %w", err)
	}
	m.Name += ", network x " + o.faster.String()
	return m, nil
}

// described returns the machine of the other flags. Parameters beside --machine,
// or beside a machine of the settings, replace those of every class. A full set of
// parameters on the command line is a machine of its own, whatever the settings name.
func (o *MachineOptions) described(from source.Source, c *cobra.Command) (*machine.Machine, error) {
	given := o.Override()
	full := o.Latency.Given && o.overhead.Given && o.gap.Given && o.perByte.Given
	if o.Name == recordedMachine && given.IsZero() {
		return ownMachine(), nil
	}
	if o.Name != "" && (c.Flags().Changed("machine") || !full) {
		m, err := machine.FindFrom(from, o.Name)
		if err != nil {
			return nil, err
		}
		if given.IsZero() {
			return m, nil
		}
		m = given.Apply(m)
		m.Name += ", changed"
		return m, nil
	}
	o.Name = ""
	if given.IsZero() {
		letters := "-L, -o, -g and -G"
		if o.OnlyLatency {
			letters = "-L"
		}
		return nil, &exit.UsageError{
			Text:    "which machine? Give --machine NAME (see 'slackline machine list'), --machine FILE, or " + letters,
			Command: c.CommandPath(),
		}
	}
	if given.Gap == nil && (o.isStatic() || o.OnlyLatency) {
		given.Gap = new(unit.Duration)
	}
	if o.OnlyLatency {
		given.Overhead, given.PerByte = cmp.Or(given.Overhead, new(unit.Duration)), cmp.Or(given.PerByte, new(unit.PerByte))
	}
	m, err := given.Machine("command line")
	if err != nil {
		return nil, &exit.UsageError{Text: err.Error() + "; or give --machine", Command: c.CommandPath()}
	}
	return m, nil
}

// File is the machine file that was read; empty: none.
func (o *MachineOptions) File() string {
	if slices.Contains(machine.Names(), o.Name) || o.Name == recordedMachine {
		return ""
	}
	return o.Name
}

// recordedMachine is the name of the machine of a recorded run with accelerators: communication takes as long as it took there.
const recordedMachine = "recorded"

// IsRecorded reports whether it is that machine.
func (o *MachineOptions) IsRecorded() bool { return o.Name == recordedMachine }

// RecordedMachine are the flags of that machine.
func RecordedMachine() []string { return []string{"--machine", recordedMachine} }

// ownMachine is that machine.
func ownMachine() *machine.Machine {
	m := whatif.IdealNetwork()
	m.Name = "the recorded machine"
	return m
}

// isRecordedMachine reports whether the flags name the machine of the run.
func isRecordedMachine(fs *pflag.FlagSet) bool {
	f := fs.Lookup("machine")
	return f != nil && f.Value.String() == recordedMachine
}

// Words are the flags that describe the machine, as they were given, on the command line or in the settings.
func (o *MachineOptions) Words(c *cobra.Command) []string {
	return flags.Words(c, "machine", "latency", "overhead", "gap", "gap-per-byte", "overhead-per-byte", "eager-limit", "scale-network")
}
