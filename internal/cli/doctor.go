package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/table"
	"slackline/observe/mpi"
)

type doctorOptions struct{ format choice }

func (a *app) doctorCommand() *cobra.Command {
	o := &doctorOptions{format: newChoice("text", "text", "json")}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say which MPI libraries, compilers and OpenMP runtimes were found, and what will work.",
		Example: `  slackline doctor
  slackline doctor --format json`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := mpi.Doctor(c.Context())
			if err != nil {
				return err
			}
			if o.format.value == "json" {
				e := json.NewEncoder(a.stdout)
				e.SetIndent("", "  ")
				return e.Encode(d)
			}
			return a.writeInventory(a.stdout, d)
		},
	}
	a.addGroup(c, "Output", func(fs *pflag.FlagSet) { fs.Var(&o.format, "format", "format of the output") })
	complete(c, "format", o.format.allowed)
	return c
}

// writeInventory prints what was found and what follows from it.
func (a *app) writeInventory(w io.Writer, d *mpi.Inventory) error {
	var b strings.Builder
	width := widthOf(w)
	fmt.Fprintf(&b, "%s\n", a.bold("MPI"))
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
	fmt.Fprintf(&b, "\n%s\n", a.bold("Tools"))
	var rows []pair
	for _, t := range d.Tools {
		rows = append(rows, pair{t.Name, orNone(t.Path) + ": " + t.For})
	}
	writePairs(&b, rows, width)
	fmt.Fprintf(&b, "\n%s\n  %d CPUs; more ranks than that share them\n  compiled parts are kept in %s\n", a.bold("Machine"), d.CPUs, d.Cache)
	_, err := io.WriteString(w, b.String())
	return err
}

func orNone(path string) string {
	if path == "" {
		return "not found"
	}
	return path
}
