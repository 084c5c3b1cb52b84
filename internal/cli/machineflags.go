package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/source"
	"slackline/model/machine"
	"slackline/model/unit"
)

// machineOptions are the flags that describe the machine: a name or file, and
// the model's parameters by their letters.
type machineOptions struct {
	name     string
	latency  quantity[unit.Duration]
	overhead quantity[unit.Duration]
	gap      quantity[unit.Duration]
	perByte  quantity[unit.PerByte]
	cpuByte  quantity[unit.PerByte]
	eager    quantity[unit.Size]
	faster   factor // of the network

	gapOptional bool // without a machine, g is 0 unless it is given
	onlyLatency bool // without a machine, o, g and G are 0 unless they are given
}

func newMachineOptions() machineOptions {
	return machineOptions{
		latency: durationFlag(), overhead: durationFlag(), gap: durationFlag(),
		perByte: perByteFlag(), cpuByte: perByteFlag(), eager: sizeFlag(),
	}
}

func (o *machineOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.name, "machine", "", "`NAME|FILE` of an embedded machine ('slackline machine list') or a machine file")
	fs.VarP(&o.latency, "latency", "L", "latency: a `time` with unit, e.g. 2.5us")
	fs.VarP(&o.overhead, "overhead", "o", "CPU `time` of a message at each end (overhead)")
	fs.VarP(&o.gap, "gap", "g", "least `time` between two messages at a NIC (gap)")
	fs.VarP(&o.perByte, "gap-per-byte", "G", "`time` per byte of a message at a NIC, e.g. 0.018ns")
	fs.VarP(&o.cpuByte, "overhead-per-byte", "O", "CPU `time` per byte of a message (default 0)")
	fs.VarP(&o.eager, "eager-limit", "S", "messages of more than this `size` rendezvous (default: none do)")
	fs.Var(&o.faster, "scale-network", "a network faster by this `factor`, e.g. 10 or 0.1: L, g and G are divided by it, o stays")
}

func (o *machineOptions) complete(c *cobra.Command) {
	completeWith(c, "machine", machine.Names)
}

// override returns the parameters that were given.
func (o *machineOptions) override() machine.Override {
	return machine.Override{
		Latency: o.latency.pointer(), Overhead: o.overhead.pointer(), Gap: o.gap.pointer(),
		PerByte: o.perByte.pointer(), CPUByte: o.cpuByte.pointer(), Eager: o.eager.pointer(),
	}
}

// machine returns the machine that the flags describe, with the network as fast
// as asked for.
func (o *machineOptions) machine(c *cobra.Command) (*machine.Machine, error) {
	return o.machineFrom(source.Disk, c)
}

// machineFrom is machine with files from a source.
func (o *machineOptions) machineFrom(from source.Source, c *cobra.Command) (*machine.Machine, error) {
	m, err := o.described(from, c)
	if err != nil || !o.faster.given {
		return m, err
	}
	if m, err = machine.ScaleNetwork(m, o.faster.value); err != nil {
		return nil, fmt.Errorf("--scale-network: %w", err)
	}
	m.Name += ", network x " + o.faster.String()
	return m, nil
}

// described returns the machine of the other flags. Parameters beside --machine
// replace those of every class. A full set of parameters on the command line is a
// machine of its own, whatever the settings name.
func (o *machineOptions) described(from source.Source, c *cobra.Command) (*machine.Machine, error) {
	given := o.override()
	full := o.latency.given && (o.onlyLatency || o.overhead.given && o.gap.given && o.perByte.given)
	if o.name != "" && (c.Flags().Changed("machine") || !full) {
		m, err := machine.FindFrom(from, o.name)
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
	o.name = ""
	if given.IsZero() {
		letters := "-L, -o, -g and -G"
		if o.onlyLatency {
			letters = "-L"
		}
		return nil, &usageError{
			text:    "which machine? Give --machine NAME (see 'slackline machine list'), --machine FILE, or " + letters,
			command: c.CommandPath(),
		}
	}
	if given.Gap == nil && (o.gapOptional || o.onlyLatency) {
		given.Gap = new(unit.Duration)
	}
	if o.onlyLatency {
		given.Overhead, given.PerByte = cmp.Or(given.Overhead, new(unit.Duration)), cmp.Or(given.PerByte, new(unit.PerByte))
	}
	m, err := given.Machine("command line")
	if err != nil {
		return nil, &usageError{text: err.Error() + "; or give --machine", command: c.CommandPath()}
	}
	return m, nil
}

// file is the machine file that was read; empty: none.
func (o *machineOptions) file() string {
	if slices.Contains(machine.Names(), o.name) {
		return ""
	}
	return o.name
}
