package tolerance

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"slackline/analyze/tolerance"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/source"
	"slackline/internal/suggest"
	"slackline/model/machine"
	"slackline/model/unit"
)

// wiringOptions are the flags that put the ranks on a topology.
type wiringOptions struct {
	topology     string
	perSwitch    flags.Quantity[unit.Duration]
	intra        flags.Quantity[unit.Duration]
	ranksPerNode int
	wires        int
}

// switchLatency is that of a switch unless another one is given, as in the paper.
const switchLatency = 108 * unit.Nanosecond

func (o *wiringOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.topology, "topology", "", "`SPEC` of the network: "+machine.TopologyHelp+"; machine: that of the machine file. -L is "+
		"then the latency of one wire")
	fs.Var(&o.perSwitch, "switch-latency", "`time` that a message takes through a switch (default "+switchLatency.String()+")")
	flags.AddNumber(fs, &o.ranksPerNode, "ranks-per-node", 1, flags.AtLeast(1),
		"`number` of ranks on a node, which are filled one after the other (default: the machine's, else 1)")
	fs.Var(&o.intra, "intra-latency", "`time` in place of the latency inside a node (default: the machine's, else 0)")
	fs.Lookup("ranks-per-node").DefValue = "0" // pflag then shows none
	flags.AddNumber(fs, &o.wires, "wires", 0, flags.AtLeast(0),
		"list this `number` of the wires that the critical path uses most, each with what it alone tolerates")
}

// ofMachine is the word for the topology of the machine file.
const ofMachine = "machine"

func (o *wiringOptions) check(r *run) error {
	if o.topology == "" {
		for _, name := range []string{"switch-latency", "ranks-per-node", "intra-latency", "wires"} {
			if r.given(name) {
				return exit.Usagef("--%s needs --topology", name)
			}
		}
		return nil
	}
	switch {
	case r.given("placement"):
		return exit.Usagef("--placement works on nodes and cores; leave --topology out")
	case o.topology == ofMachine:
		return nil
	}
	topology, err := env.ReadOnce(r.context, r.app, func(from source.Source) (*machine.Topology, error) {
		return machine.ParseTopology(from, o.topology)
	})
	if err != nil {
		if o.hopFile() != "" {
			return fmt.Errorf("--topology: %w", err) // the fault is in a file
		}
		return exit.Usagef("--topology: %v", err)
	}
	r.topology = topology
	return nil
}

// hopFile is the file of a matrix of hops; empty: none.
func (o *wiringOptions) hopFile() string {
	file, ok := strings.CutPrefix(o.topology, "matrix:")
	if !ok {
		return ""
	}
	return file
}

// findMachine finds the machine of the flags, and its topology if that is asked for.
func (r *run) findMachine(from source.Source) (err error) {
	if r.wiring.topology == ofMachine && r.machine.Name != "" && !r.machine.Latency.Given {
		if err := r.takeWire(from); err != nil {
			return err
		}
	}
	m, err := r.machine.MachineFrom(from, r.command)
	if err != nil {
		return err
	}
	r.on = m
	if r.wiring.topology != "" && r.machine.Name != "" {
		if r.asFile, err = machine.FindFrom(from, r.machine.Name); err != nil {
			return err
		}
	}
	switch {
	case r.wiring.topology != ofMachine:
	case r.machine.Name == "":
		return exit.Usagef("--topology machine needs --machine FILE")
	default:
		if r.topology, err = m.FindTopologyFrom(from); err != nil {
			return err
		}
		if r.topology == nil {
			return fmt.Errorf("the machine %s has no topology; give --topology %s", r.machine.Name, "SPEC")
		}
	}
	if r.topology != nil && r.given("ranks-per-node") {
		changed := *m
		changed.RanksPerNode, changed.Placement = r.wiring.ranksPerNode, machine.Placement{}
		r.on = &changed
	}
	return r.placeOnMachine()
}

// takeWire takes the latency of a wire from the machine file, as if it were given by -L.
func (r *run) takeWire(from source.Source) error {
	m, err := machine.FindFrom(from, r.machine.Name)
	if err != nil {
		return err
	}
	wire, _ := m.TopologyLatencies()
	if len(m.Topology) > 0 && wire == nil {
		return exit.Usagef("the topology of %s does not say what a wire takes; give -L, or wire: in the file", r.machine.Name)
	}
	if wire != nil {
		r.machine.Latency.Value, r.machine.Latency.Given = *wire, true
	}
	return nil
}

// setting is where a schedule is evaluated, and what is varied.
type setting struct {
	network  tolerance.Network
	wiring   *tolerance.Wiring // nil: without a topology
	variable tolerance.Variable
	varied   string // what the latency is that of, in words
}

// setting puts so many ranks on the machine.
func (r *run) setting(ranks int) (*setting, error) {
	layout, err := r.on.Layout(ranks)
	if err != nil {
		return nil, err
	}
	set := &setting{network: tolerance.Network{Layout: layout}, variable: tolerance.Variable{Parameter: r.ask.variable()}}
	if r.topology == nil {
		if set.variable.Classes, err = r.ask.classes(); err != nil {
			return nil, err
		}
		if len(r.ask.vary) > 0 {
			set.varied = "of class " + strings.Join(r.ask.vary, " and ")
		}
		return set, r.checkVaried(layout, set.variable.Classes)
	}
	if set.wiring, err = r.wire(layout); err != nil {
		return nil, err
	}
	set.varied = "of a wire"
	set.network.Table, err = r.tableOf(set)
	return set, err
}

// checkVaried finds classes that do not occur.
func (r *run) checkVaried(layout *machine.Layout, classes []machine.Class) error {
	for _, c := range classes {
		if !layout.Occurs(c) {
			return exit.Usagef("--vary: there is no message of class %s on %s; vary a class that occurs", c, r.on.Name)
		}
	}
	return nil
}

// wire makes the wiring of a layout.
func (r *run) wire(layout *machine.Layout) (*tolerance.Wiring, error) {
	w := &tolerance.Wiring{Topology: r.topology, Layout: layout, Wire: layout.Machine.Classes[machine.Far].Latency, Switch: switchLatency}
	if r.asFile != nil {
		w.Intra = r.asFile.Classes[machine.Node].Latency // as it was before -L replaced it
		if _, perSwitch := r.asFile.TopologyLatencies(); perSwitch != nil && r.wiring.topology == ofMachine {
			w.Switch = *perSwitch
		}
	}
	if r.wiring.perSwitch.Given {
		w.Switch = r.wiring.perSwitch.Value
	}
	if r.wiring.intra.Given {
		w.Intra = r.wiring.intra.Value
	}
	err := w.Check()
	if few := new(tolerance.TooFewNodesError); errors.As(err, &few) {
		return nil, exit.Usagef("--topology: %v", err)
	}
	return w, err
}

// tableOf is the table of latencies of the part of a topology that is varied.
func (r *run) tableOf(set *setting) (*tolerance.Table, error) {
	const switches = "switches"
	w := set.wiring
	switch {
	case len(r.ask.vary) == 0:
		return w.AllWires(), nil
	case r.ask.variable() != tolerance.L:
		return nil, exit.Usagef("--vary: the parts of a topology differ by their latency; leave it out, or --parameter %s", r.ask.parameter)
	case len(r.ask.vary) > 1:
		return nil, exit.Usagef("--vary: of a topology one part is varied at a time; give one of %s", strings.Join(r.ask.vary, ", "))
	}
	word, classes := r.ask.vary[0], w.Topology.WireClasses()
	if word == switches {
		set.varied = "of a switch"
		return w.AllSwitches(), nil
	}
	words := append(slices.Clone(classes), switches)
	i := slices.Index(classes, word)
	if i < 0 {
		return nil, exit.Usagef("--vary: %q is not a part of %s; give one of %s%s", word, w.Topology, strings.Join(words, ", "),
			suggest.Phrase(word, words))
	}
	set.varied = "of a wire of kind " + word
	return w.WireClass(i), nil
}
