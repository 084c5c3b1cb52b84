// Package generate is the verb generate: it writes patterns and recorded runs as schedules.
package generate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/export"
	"slackline/cli/flags"
	"slackline/cli/scenario"
	"slackline/internal/suggest"
	"slackline/internal/table"
	"slackline/model/collective"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

type generateOptions struct {
	program scenario.ProgramOptions
	output  export.ScheduleOutput
	list    bool
	result  env.ResultFlags // of the list
}

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "generate", Group: env.Prepare, Job: env.FirstOnly, New: command,
	Documents: env.Documents{"generate-list": {env.List{}}},
}

func command(a *env.Env) *cobra.Command {
	o := &generateOptions{}
	c := &cobra.Command{
		Use:   "generate INPUT",
		Short: "Write a pattern or a recorded run as a schedule file, or list the patterns there are.",
		Annotations: flags.Arguments("INPUT",
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
			return flags.ExactArgs("INPUT (or --list)")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	a.AddGroup(c, "List", func(fs *pflag.FlagSet) {
		fs.BoolVar(&o.list, "list", false, "list patterns and algorithms, or describe the one that is named")
		o.result.AddFormat(fs, "form of the output")
	})
	a.AddGroup(c, "Output", o.output.AddFlags)
	a.AddGroup(c, "Pattern or recorded run", o.program.AddFlags)
	c.ValidArgsFunction = scenario.CompleteInput
	o.program.Complete(c)
	o.output.Complete(c)
	return c
}

func (o *generateOptions) run(a *env.Env, c *cobra.Command, args []string) error {
	if o.list {
		a.WarnOfAllBut(c, " with --list", "list", "format", "out")
		list := patternList{}
		if len(args) > 0 {
			known := pattern.List()
			i := slices.IndexFunc(known, func(p pattern.Info) bool { return p.Name == args[0] })
			if i < 0 {
				return fmt.Errorf("there is no pattern %q%s", args[0], suggest.Phrase(args[0], scenario.PatternNames()))
			}
			list.only = &known[i]
		}
		return a.WriteResult("list", list, &env.ResultFlags{Format: o.result.Format, Out: o.output.Out}, nil)
	}
	a.WarnOfVoid(c, " without --list; the format of a schedule is given with --to", "format")
	if _, err := o.output.Format(c); err != nil {
		return err
	}
	if err := env.CheckOut(o.output.Out, args); err != nil { // before a long run, not after it
		return err
	}
	in, err := o.program.Open(a, c, args[0], false)
	if err != nil {
		return err
	}
	return o.output.Write(a, c, in, args)
}

// patternList is what --list gives: all patterns, or everything about one.
type patternList struct{ only *pattern.Info }

func (l patternList) JSON(a *env.Env) (any, error) { return env.Table{Table: l.table()}.JSON(a) }

func (l patternList) Rows(*env.Env) env.Rows { return l.table() }

// Text implements env.Result: in sections.
func (l patternList) Text(a *env.Env, w io.Writer) {
	if l.only != nil {
		describe(a, w, l.only)
	} else {
		writeList(a, w)
	}
}

// table has a row for each pattern, or for each algorithm of one.
func (l patternList) table() *table.Table {
	if l.only != nil {
		return algorithmTable(l.only.Name)
	}
	t := table.Of("name", "kind", "info", "params", "algorithms")
	for _, p := range pattern.List() {
		t.Add(p.Name, string(p.Kind), p.Info, strings.Join(p.Params, " "), strings.Join(algorithmsOf(p.Name), " "))
	}
	return t
}

// writeList writes all patterns in sections.
func writeList(a *env.Env, w io.Writer) {
	for _, section := range []struct {
		kind  pattern.Kind
		title string
	}{
		{pattern.Collective, "Collectives (blocking, v-variants and non-blocking forms)"},
		{pattern.Exchange, "Exchanges"},
		{pattern.Application, "Applications"},
	} {
		fmt.Fprintf(w, "%s\n", a.Bold(section.title))
		t := table.Of("name", "info")
		for _, p := range pattern.List() {
			if p.Kind == section.kind {
				t.Add("  "+p.Name, p.Info)
			}
		}
		a.WriteText(w, t, false)
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s\n", a.Bold("Algorithms of the collectives (--algorithm)"))
	t := table.Of("operation", "algorithms")
	for _, op := range schedule.Operations() {
		t.Add("  "+op.String(), strings.Join(algorithmsOf(op.String()), ", "))
	}
	a.WriteText(w, t, false)
	fmt.Fprintf(w, "\nMore about one of them: slackline generate --list NAME\n")
}

// describe writes everything about one pattern.
func describe(a *env.Env, w io.Writer, p *pattern.Info) {
	t := algorithmTable(p.Name)
	for line := range strings.Lines(p.Describe()) {
		writeIndented(w, strings.TrimRight(line, "\n"), env.WidthOf(a.Stdout))
	}
	if t.Len() == 0 {
		return
	}
	fmt.Fprintf(w, "\nAlgorithms (P ranks, s bytes, k radix, n segments, lg rounded up):\n")
	a.WriteText(w, t, true)
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
	t := table.Of("algorithm=  algorithm", "rounds", "volume", "info")
	if op, ok := operationOf(name); ok {
		for _, alg := range collective.Algorithms(op) {
			t.Add(table.Cell{Text: "  " + alg.Name, Value: alg.Name}, alg.Rounds, alg.Volume, alg.Info)
		}
	}
	return t
}

// operationOf returns the operation of a collective pattern: its own name, that
// of its blocking form, or that of its form with equal sizes.
func operationOf(name string) (schedule.Operation, bool) {
	for _, op := range schedule.Operations() {
		if slices.Contains([]string{op.String(), "i" + op.String(), op.String() + "v"}, name) {
			return op, true
		}
	}
	return 0, false
}

func algorithmsOf(name string) []string {
	var names []string
	if op, ok := operationOf(name); ok {
		for _, alg := range collective.Algorithms(op) {
			names = append(names, alg.Name)
		}
	}
	return names
}
