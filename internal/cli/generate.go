package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/suggest"
	"slackline/internal/table"
	"slackline/model/collective"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

type generateOptions struct {
	program programOptions
	output  scheduleOutput
	list    bool
	listOptions
}

func (a *app) generateCommand() *cobra.Command {
	o := &generateOptions{program: newProgramOptions(), output: newScheduleOutput(), listOptions: *newListOptions()}
	c := &cobra.Command{
		Use:   "generate INPUT",
		Short: "Write a pattern or a recorded run as a schedule file, or list the patterns there are.",
		Annotations: arguments("INPUT",
			"the name of a pattern, with --list it is described; or a recorded run (a trace); a schedule file is taken too"),
		Example: `  slackline generate --list
  slackline generate --list allreduce
  slackline generate sweep3d --ranks 1024 --out sweep.slk
  slackline generate allreduce --algorithm ring --ranks 16 --size 1MiB --out ring.goal
  slackline generate bcast --ranks 8 --to dot --out bcast.dot
  slackline generate traces.otf2 --ranks 4096 --scale-compute 0.5 --out run.slk`,
		Args: func(c *cobra.Command, args []string) error {
			if o.list && len(args) == 0 {
				return nil
			}
			return exactArgs("INPUT (or --list)")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	a.addGroup(c, "List", func(fs *pflag.FlagSet) {
		fs.BoolVar(&o.list, "list", false, "list patterns and algorithms, or describe the one that is named")
		o.listOptions.addFlags(fs)
	})
	a.addGroup(c, "Output", o.output.addFlags)
	a.addGroup(c, "Pattern or recorded run", o.program.addFlags)
	c.ValidArgsFunction = completeInput
	o.program.complete(c)
	o.output.complete(c)
	complete(c, "format", o.format.allowed)
	return c
}

func (o *generateOptions) run(a *app, c *cobra.Command, args []string) error {
	if o.list {
		o.warnOfList(a, c)
		return a.writeOut(o.output.out, nil, func(w io.Writer) error {
			if len(args) > 0 {
				return o.describe(a, w, args[0])
			}
			return o.writeList(a, w)
		})
	}
	if c.Flags().Changed("format") {
		a.warn("--format has no influence without --list; the format of a schedule is given with --to")
	}
	if _, err := o.output.format(c); err != nil {
		return err
	}
	if err := checkOut(o.output.out, args); err != nil { // before a long run, not after it
		return err
	}
	in, err := o.program.open(a, c, args[0], false)
	if err != nil {
		return err
	}
	return o.output.write(a, c, in, args)
}

// warnOfList tells of flags that a list does not need.
func (o *generateOptions) warnOfList(a *app, c *cobra.Command) {
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains([]string{"list", "format", "out"}, f.Name) {
			a.warn("--%s has no influence with --list", f.Name)
		}
	})
}

// writeList writes all patterns: in sections for people, in one table otherwise.
func (o *generateOptions) writeList(a *app, w io.Writer) error {
	if o.format.value != formatText {
		t := table.New(table.Column{Key: "name"}, table.Column{Key: "kind"}, table.Column{Key: "info"},
			table.Column{Key: "params"}, table.Column{Key: "algorithms"})
		for _, p := range pattern.List() {
			t.Add(p.Name, string(p.Kind), p.Info, strings.Join(p.Params, " "), strings.Join(algorithmsOf(p.Name), " "))
		}
		return a.writeTable(w, t, o.format.value)
	}
	for _, section := range []struct {
		kind  pattern.Kind
		title string
	}{
		{pattern.Collective, "Collectives (blocking, v-variants and non-blocking forms)"},
		{pattern.Exchange, "Exchanges"},
		{pattern.Application, "Applications"},
	} {
		fmt.Fprintf(w, "%s\n", a.bold(section.title))
		t := table.New(table.Column{Key: "name"}, table.Column{Key: "info"})
		for _, p := range pattern.List() {
			if p.Kind == section.kind {
				t.Add("  "+p.Name, p.Info)
			}
		}
		if err := a.writeText(w, t, false); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s\n", a.bold("Algorithms of the collectives (--algorithm)"))
	t := table.New(table.Column{Key: "operation"}, table.Column{Key: "algorithms"})
	for _, op := range schedule.Operations() {
		t.Add("  "+op.String(), strings.Join(algorithmsOf(op.String()), ", "))
	}
	if err := a.writeText(w, t, false); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nMore about one of them: slackline generate --list NAME\n")
	return err
}

// describe tells everything about one pattern.
func (o *generateOptions) describe(a *app, w io.Writer, name string) error {
	list := pattern.List()
	i := slices.IndexFunc(list, func(p pattern.Info) bool { return p.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no pattern %q%s", name, suggest.Phrase(name, patternNames()))
	}
	t := algorithmTable(name)
	if o.format.value != formatText {
		return a.writeTable(w, t, o.format.value)
	}
	for line := range strings.Lines(list[i].Describe()) {
		writeIndented(w, strings.TrimRight(line, "\n"), widthOf(a.stdout))
	}
	if t.Len() == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nAlgorithms (P ranks, s bytes, k radix, n segments, lg rounded up):\n")
	return a.writeText(w, t, true)
}

// parameterColumn is where the text of a parameter begins in a description.
const parameterColumn = 14

// writeIndented writes a line of a description. What is too long goes on below:
// for a parameter, which is indented, below its text.
func writeIndented(w io.Writer, line string, width int) {
	head := ""
	if strings.HasPrefix(line, "  ") && len(line) > width {
		head, line = line[:parameterColumn], line[parameterColumn:]
	}
	for i, part := range table.Wrap(line, width-len(head)) {
		if i > 0 {
			head = strings.Repeat(" ", len(head))
		}
		fmt.Fprintf(w, "%s%s\n", head, part)
	}
}

// algorithmTable lists the algorithms of a collective pattern.
func algorithmTable(name string) *table.Table {
	t := table.New(table.Column{Key: "algorithm", Title: "  algorithm"}, table.Column{Key: "rounds"},
		table.Column{Key: "volume"}, table.Column{Key: "info"})
	op, ok := operationOf(name)
	if !ok {
		return t
	}
	for _, alg := range collective.Algorithms(op) {
		t.Add(table.Cell{Text: "  " + alg.Name, Value: alg.Name}, alg.Rounds, alg.Volume, alg.Info)
	}
	return t
}

// operationOf returns the operation of a collective pattern: its own name, that
// of its blocking form, or that of its form with equal sizes.
func operationOf(name string) (schedule.Operation, bool) {
	for _, op := range schedule.Operations() {
		for _, form := range []string{op.String(), "i" + op.String(), op.String() + "v"} {
			if name == form {
				return op, true
			}
		}
	}
	return 0, false
}

func algorithmsOf(name string) []string {
	op, ok := operationOf(name)
	if !ok {
		return nil
	}
	var names []string
	for _, alg := range collective.Algorithms(op) {
		names = append(names, alg.Name)
	}
	return names
}
