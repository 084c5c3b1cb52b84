// Package export writes schedules and traces in the formats that verbs offer with --to and --out.
package export

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/internal/columnfile"
	"slackline/internal/memory"
	"slackline/internal/phrase"
	"slackline/internal/suggest"
	"slackline/model/collective"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// ScheduleOutput are the flags of verbs that write a schedule.
type ScheduleOutput struct {
	to      string
	Out     string
	expand  bool
	mapping string
	gamma   flags.Quantity[unit.PerByte]
	Others  []string // formats that the verb takes beside those of schedules
}

// formatSLK is the one format that keeps collectives as they are.
const formatSLK = "slk"

func (o *ScheduleOutput) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.to, "to", "", "`format` of the schedule: "+strings.Join(FormatNames(), ", ")+" (default: by the suffix of --out)")
	fs.StringVar(&o.Out, "out", "", "write to this `file`; - is the standard output")
	fs.BoolVar(&o.expand, "expand", false, "turn collectives into messages; every format but slk needs it and does it by itself")
	scenario.AddMapping(fs, &o.mapping)
	fs.Var(&o.gamma, "gamma", "CPU `time` per reduced byte inside expanded collectives, e.g. 0.1ns (default 0)")
}

func (o *ScheduleOutput) Complete(c *cobra.Command) {
	flags.CompleteWith(c, "to", o.names)
	flags.CompleteWith(c, "mapping", collective.MappingNames)
}

// names are all formats that --to takes.
func (o *ScheduleOutput) names() []string { return slices.Concat(FormatNames(), o.Others) }

func FormatNames() []string {
	var names []string
	for _, f := range schedule.Formats() {
		if f.Write != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// ColumnFormatNames are the formats of tables for data frames.
func ColumnFormatNames() []string {
	var names []string
	for _, f := range columnfile.Formats() {
		names = append(names, string(f))
	}
	return names
}

// ColumnFormat returns the format of tables that --to or the suffix of --out names, if it is one.
func (o *ScheduleOutput) ColumnFormat() (columnfile.Format, bool) {
	name := o.to
	if name == "" {
		name = strings.TrimPrefix(strings.ToLower(filepath.Ext(o.Out)), ".")
	}
	return columnfile.Format(name), env.IsColumns(name)
}

// Format returns the format that --to or the suffix of --out names.
func (o *ScheduleOutput) Format(c *cobra.Command) (schedule.Format, error) {
	suffix := strings.ToLower(filepath.Ext(o.Out))
	for _, f := range schedule.Formats() {
		if f.Write != nil && (f.Name == o.to || o.to == "" && slices.Contains(f.Suffixes, suffix)) {
			return f, nil
		}
	}
	switch {
	case o.to == "" && o.Out == "":
		return schedule.Format{}, &exit.UsageError{
			Text:    "where to? Give --out FILE (" + strings.Join(o.names(), ", ") + " by its suffix), or --to FORMAT",
			Command: c.CommandPath(),
		}
	case o.to == "":
		return schedule.Format{}, exit.Usagef("--out: no format has the suffix %q; give --to with one of %s", suffix, strings.Join(o.names(),
			", "))
	}
	return schedule.Format{}, exit.Usagef("--to: nothing can be written as %q; there are %s%s",
		o.to, strings.Join(o.names(), ", "), suggest.Phrase(o.to, o.names()))
}

// Write writes the program of an input that was made from files, which must not
// be overwritten.
func (o *ScheduleOutput) Write(a *env.Env, c *cobra.Command, in *input.Input, files []string) error {
	f, err := o.Format(c)
	if err != nil {
		return err
	}
	mapping, err := collective.FindMapping(o.mapping)
	if err != nil {
		return err
	}
	collectives := in.Program.Shape().Collectives
	expand := collectives && (o.expand || f.Name != formatSLK)
	if !expand {
		why := ": " + in.Name + " has no collectives to be expanded"
		if collectives {
			why = ": " + in.Name + " keeps its collectives in slk; give --expand"
		}
		a.WarnOfVoid(c, why, "expand", "mapping", "gamma")
	}
	if env.IsTerminal(a.Stream(o.Out)) && !f.Text {
		return exit.Usagef("%s is a binary format; give --out FILE, or send the output to a program", f.Name)
	}
	if _, inMemory := in.Program.(*schedule.Graph); expand || !inMemory && f.Name != formatSLK {
		if err := scenario.CheckMemory(in.Program.Ranks(), 1, memory.Available); err != nil {
			return err
		}
	}
	program := in.Program
	if expand {
		if o.expand {
			a.Note("collectives are expanded with the mapping %s", o.mapping)
		} else {
			a.Note("%s knows no collectives: they are expanded with the mapping %s", f.Name, o.mapping)
		}
		if program, err = expanded(c.Context(), in.Program, mapping, o.gamma.Value); err != nil {
			return err
		}
	}
	var warnings []string
	write := a.WriteOut
	if !f.Text {
		write = a.WriteBytes
	}
	err = write(o.Out, files, func(w io.Writer) error {
		var err error
		warnings, err = writeProgram(c.Context(), w, f, program)
		return err
	})
	a.WarnAll(warnings)
	if err == nil && a.Stream(o.Out) == nil {
		a.Note("wrote %s: %s, %s", o.Out, f.Info, phrase.Plural(program.Ranks(), "rank"))
	}
	return err
}

// writeProgram writes a program in a format. Our own format takes programs
// lazily; the others need all operations in memory.
func writeProgram(ctx context.Context, w io.Writer, f schedule.Format, p schedule.Program) ([]string, error) {
	if f.Name == formatSLK {
		return nil, schedule.WriteSLK(interruptible{ctx, w}, p)
	}
	g, ok := p.(*schedule.Graph)
	if !ok {
		var err error
		if g, err = materialize(ctx, schedule.Blocks(p), p.Origins(), mostOps()); err != nil {
			return nil, err
		}
	}
	return f.Write(interruptible{ctx, w}, g)
}

// expanded returns a program with its collectives turned into messages.
func expanded(ctx context.Context, p schedule.Program, mapping *collective.Mapping, gamma unit.PerByte) (*schedule.Graph, error) {
	x := collective.Expand(p, mapping, gamma)
	g, err := materialize(ctx, x, p.Origins(), mostOps())
	if e := x.Err(); e != nil {
		return nil, e
	}
	return g, err
}

// maxOpsInMemory bounds a schedule that must be held in memory to be written, each of whose operations takes opBytes there.
const (
	maxOpsInMemory = 1 << 28
	opBytes        = 160
)

// mostOps is how many operations can be held in memory.
func mostOps() int {
	free, known := memory.Available()
	if !known {
		return maxOpsInMemory
	}
	return int(min(maxOpsInMemory, free/opBytes))
}

// materialize takes a stream of at most so many operations into memory until it is interrupted, and keeps the
// origins of its operations.
func materialize(ctx context.Context, s schedule.Stream, origins []schedule.Origin, most int) (*schedule.Graph, error) {
	build := schedule.NewBuilder(s.Ranks())
	var b schedule.Block
	ops := 0
	for rank := range s.Ranks() {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("interrupted: %w", err)
		}
		for at, ok := s.Next(rank, schedule.Cursor{}, &b); ok; at, ok = s.Next(rank, at, &b) {
			if ops += len(b.Ops); ops > most {
				return nil, fmt.Errorf("more than %s operations do not fit into memory; write slk without --expand, or fewer ranks or iterations",
					phrase.Grouped(most))
			}
			build.Add(rank, &b)
		}
	}
	build.SetOrigins(origins)
	return build.Graph(), nil
}

// interruptible is a writer that fails once the user has interrupted the program.
type interruptible struct {
	ctx context.Context
	w   io.Writer
}

func (i interruptible) Write(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.w.Write(p)
}
