// Package doctor is the verb doctor: it reports which MPI libraries and tools were found.
package doctor

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/observe/counters"
	"slackline/observe/mpi"
)

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "doctor", Group: env.Observe, Job: env.OnceOnly, New: command,
	Documents: env.Documents{"doctor": {report{}}},
}

// report is what was found.
type report struct {
	mpi.Inventory
	Counters counters.Possible `json:"counters"`
}

func command(a *env.Env) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Report which MPI libraries, compilers and OpenMP runtimes were found, and what will work.",
		Example: `  slackline doctor
  slackline doctor --format json`,
		Args: flags.ExactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := mpi.Doctor(c.Context())
			if err != nil {
				return err
			}
			r := report{*d, counters.Here()}
			if format == "json" {
				return env.WriteJSONObject(a.Stdout, r)
			}
			return r.write(a, a.Stdout)
		},
	}
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		flags.AddChoice(fs, &format, "format", "format of the output", "text", "text", "json")
	})
	return c
}

// write prints what was found and what follows from it.
func (d *report) write(a *env.Env, w io.Writer) error {
	var b strings.Builder
	width := env.WidthOf(w)
	fmt.Fprintf(&b, "%s\n", a.Bold("MPI"))
	for _, l := range d.Libraries {
		fmt.Fprintf(&b, "  %s\n    compiler %s\n", l, l.Compiler)
		fmt.Fprintf(&b, "    Fortran  %s\n    launcher %s\n", orNone(l.Fortran), orNone(l.Launcher))
		fmt.Fprintf(&b, "    programs that need %s are recorded\n", strings.Join(l.Needed, " or "))
	}
	if len(d.Libraries) == 0 {
		b.WriteString("  none: programs cannot be recorded; put an mpicc into PATH, e.g. of libopenmpi-dev and openmpi-bin\n")
	}
	wrapped := func(text string) {
		for _, line := range table.Wrap(text, width-2) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	for _, text := range d.Broken {
		wrapped("does not work: " + text)
	}
	for _, text := range d.Remarks {
		wrapped(text)
	}
	fmt.Fprintf(&b, "\n%s\n", a.Bold("Tools"))
	var rows []flags.Pair
	for _, t := range d.Tools {
		rows = append(rows, flags.Pair{Name: t.Name, Text: orNone(t.Path) + ": " + t.For})
	}
	flags.WritePairs(&b, rows, width)
	fmt.Fprintf(&b, "\n%s\n  %s; more ranks than that share them\n  compiled parts are kept in %s\n", a.Bold("Machine"),
		phrase.Plural(d.CPUs, "CPU"), d.Cache)
	fmt.Fprintf(&b, "\n%s\n", a.Bold("Counters ('record --counters')"))
	wrapped("counted: " + strings.Join(d.Counters.Events, ", "))
	for _, text := range d.Counters.Refused {
		wrapped(text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func orNone(path string) string {
	if path == "" {
		return "not found"
	}
	return path
}
