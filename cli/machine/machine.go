// Package machine is the verb machine: it lists, shows and checks machines.
package machine

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/listing"
	"slackline/cli/scenario"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/show/tables"
)

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "machine", Group: env.Prepare, Job: env.FirstOnly, New: command,
	Documents: env.Documents{"machine-list": {env.List{}}},
}

func command(a *env.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "machine",
		Short: "List the embedded machines, show one, or check a machine file.",
		Example: `  slackline machine list
  slackline machine show chic > mine.yaml
  slackline machine check mine.yaml`,
		RunE: flags.NeedVerb,
	}
	list := listing.Command(a, "machine", "List the embedded machines with their parameters.", machineTable)
	c.AddCommand(list, machineShowCommand(a), machineCheckCommand(a))
	return c
}

// machineTable has a row for each embedded machine, with the parameters of pairs
// that are far from each other.
func machineTable() (*table.Table, error) {
	t := table.Of("name", ">L_ns=L", ">o_ns=o", ">g_ns=g", ">G_ns=G per byte", ">S_bytes=S", "note")
	for _, name := range machine.Names() {
		m, err := machine.Named(name)
		if err != nil {
			return nil, err
		}
		p := &m.Classes[machine.Far]
		note := table.Cell{Text: phrase.FirstSentence(m.Note), Value: m.Note}
		t.Add(m.Name, tables.ExactTime(p.Latency), piecesCell(p.Overhead, tables.ExactTime), tables.ExactTime(p.Gap),
			piecesCell(p.PerByte, perByteCell), sizeCell(p.Eager), note)
	}
	return t, nil
}

// perByteCell holds a cost per byte, which prints itself in nanoseconds.
func perByteCell(p unit.PerByte) table.Cell {
	return table.Cell{Text: p.String(), Value: json.Number(strings.TrimSuffix(p.String(), "ns"))}
}

func sizeCell(bytes int64) table.Cell {
	if bytes == machine.NoLimit {
		return table.Cell{Text: "none", Value: nil}
	}
	return table.Cell{Text: unit.Size(bytes).String(), Value: bytes}
}

// piecesCell shows the value for small messages, and that there are others.
func piecesCell[T unit.Duration | unit.PerByte](p machine.Pieces[T], cell func(T) table.Cell) table.Cell {
	c := cell(p.At(0))
	if len(p) > 1 {
		c.Text += "..."
	}
	return c
}

func machineShowCommand(a *env.Env) *cobra.Command {
	c := &cobra.Command{
		Use:         "show NAME|FILE",
		Short:       "Print a machine as a machine file, and a table of its parameters by class of link.",
		Long:        "Print a machine as a machine file, with the parameters of each class of link as a comment after it.",
		Annotations: flags.Arguments("NAME|FILE", "an embedded machine or a machine file"),
		Example:     "  slackline machine show chic\n  slackline machine show piz-daint > mine.yaml",
		Args:        flags.ExactArgs("NAME|FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := machine.Find(args[0])
			if err != nil {
				return err
			}
			return a.WriteOut("", nil, func(w io.Writer) error { showMachine(a, w, m); return nil })
		},
	}
	c.ValidArgsFunction = flags.FirstOf(machine.Names)
	return c
}

// showMachine writes the machine file and, as comments, the table of resolved
// parameters, so that the whole can be saved and used again.
func showMachine(a *env.Env, w io.Writer, m *machine.Machine) {
	w.Write(machine.Format(m))
	var text strings.Builder
	classTable(m).WriteText(&text, table.TextOptions{Width: env.WidthOf(a.Stdout) - 2})
	fmt.Fprintln(w, "\n# Parameters by class of link (node: same node, switch: same switch, far: all others):")
	for line := range strings.Lines(text.String()) {
		fmt.Fprintf(w, "# %s\n", strings.TrimRight(line, " \n"))
	}
}

// classTable has a row for each class of pairs and each range of sizes in which
// its parameters are the same.
func classTable(m *machine.Machine) *table.Table {
	t := table.Of("class", ">from", ">L", ">o", ">g", ">G", ">O", ">S")
	for class := range machine.Class(machine.NumClasses) {
		p := &m.Classes[class]
		for _, from := range sizesOf(p) {
			t.Add(class.String(), unit.Size(from).String(), p.Latency.String(), p.Overhead.At(from).String(),
				p.Gap.String(), p.PerByte.At(from).String(), p.CPUByte.String(), sizeCell(p.Eager).Text)
		}
	}
	return t
}

// sizesOf are the sizes at which o or G change, in ascending order, from 0 on.
func sizesOf(p *machine.Params) []int64 {
	var list []int64
	for _, piece := range p.Overhead {
		list = append(list, piece.From)
	}
	for _, piece := range p.PerByte {
		list = append(list, piece.From)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func machineCheckCommand(a *env.Env) *cobra.Command {
	return &cobra.Command{
		Use:         "check FILE...",
		Short:       "Check machine files and print all mistakes with their lines.",
		Annotations: flags.Arguments("FILE", "a machine file; several may be given"),
		Example:     "  slackline machine check mine.yaml",
		Args:        flags.AtLeastOne("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			bad := 0
			for _, path := range args {
				if err := checkMachine(path); err != nil {
					a.Say(exit.PlainText(err))
					bad++
					continue
				}
				if _, err := fmt.Fprintf(a.Stdout, "%s: fine\n", path); err != nil {
					return err
				}
			}
			if bad > 0 {
				return exit.ErrReported
			}
			return nil
		},
	}
}

// checkMachine finds the mistakes in a machine file, and in what it names.
func checkMachine(path string) error {
	m, err := machine.Load(path)
	if err != nil {
		return err
	}
	if m.Noise == "" || m.Noise == scenario.NoNoise {
		return nil
	}
	profile, err := noise.Find(m.Noise)
	if err == nil {
		_, err = profile.Detours(0)
	}
	if err != nil {
		return fmt.Errorf("%s: noise: %s", path, strings.TrimPrefix(exit.PlainText(err), "noise: "))
	}
	return nil
}
