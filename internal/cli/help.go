package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/suggest"
	"slackline/internal/table"
)

// argumentsKey is the annotation of a command that describes its arguments:
// lines of "NAME: text".
const argumentsKey = "arguments"

// arguments makes the annotation of a command from pairs of name and text.
func arguments(pairs ...string) map[string]string {
	var lines []string
	for i := 0; i < len(pairs); i += 2 {
		lines = append(lines, pairs[i]+"\t"+pairs[i+1])
	}
	return map[string]string{argumentsKey: strings.Join(lines, "\n")}
}

// writeHelp writes the help of a command: usage, one sentence, arguments, flags,
// examples, exit codes.
func (a *app) writeHelp(w io.Writer, c *cobra.Command) {
	width := widthOf(w)
	head := func(s string) { fmt.Fprintf(w, "\n%s\n", a.bold(s)) }
	p := a.pageOf(c)
	fmt.Fprintf(w, "%s\n  %s\n\n", a.bold("Usage:"), p.usage)
	for _, paragraph := range p.text {
		for _, line := range table.Wrap(paragraph, width) {
			fmt.Fprintln(w, line)
		}
	}
	if len(p.arguments) > 0 {
		head("Arguments:")
		writePairs(w, p.arguments, width)
	}
	if len(p.verbs) > 0 {
		head("Verbs:")
		writePairs(w, p.verbs, width)
	}
	for _, g := range a.groups[c] {
		head(g.title + ":")
		fmt.Fprint(w, g.flags.FlagUsagesWrapped(width))
	}
	head("Common flags:")
	fmt.Fprint(w, a.commonFlags(c).FlagUsagesWrapped(width))
	if c.Example != "" {
		head("Examples:")
		fmt.Fprintln(w, c.Example)
	}
	head("Exit codes:")
	for _, line := range table.Wrap(exitCodeHelp, width-2) {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// commonFlags are the flags of a command that belong to no group.
func (a *app) commonFlags(c *cobra.Command) *pflag.FlagSet {
	fs := pflag.NewFlagSet("common", pflag.ContinueOnError)
	fs.SortFlags = false
	grouped := func(name string) bool {
		for _, g := range a.groups[c] {
			if g.flags.Lookup(name) != nil {
				return true
			}
		}
		return false
	}
	add := func(f *pflag.Flag) {
		if !grouped(f.Name) {
			fs.AddFlag(f)
		}
	}
	c.LocalNonPersistentFlags().VisitAll(add)
	c.Root().PersistentFlags().VisitAll(add)
	return fs
}

func usageLine(c *cobra.Command) string {
	line := c.UseLine()
	if c.HasAvailableSubCommands() {
		line = c.CommandPath() + " VERB"
		if c.HasAvailableLocalFlags() || c.HasAvailablePersistentFlags() {
			line += " [flags]"
		}
	}
	return line
}

// writePairs writes names and texts as two columns.
func writePairs(w io.Writer, pairs []pair, width int) {
	t := table.New(table.Column{Key: "name"}, table.Column{Key: "text"})
	for _, x := range pairs {
		t.Add("  "+x.name, x.text)
	}
	// A help text that cannot be written has no reader.
	_ = t.WriteText(w, table.TextOptions{Width: width, NoHeader: true})
}

// plainError says in our words why a flag does not take a value: those of pflag speak of
// the functions that it calls.
func plainError(f *pflag.Flag, value string, err error) error {
	switch f.Value.Type() {
	case "int":
		return fmt.Errorf("%q is not a whole number; give e.g. 4", value)
	case "uint64":
		return fmt.Errorf("%q is not a whole number from 0 to 2^64 - 1; give e.g. 42", value)
	case "bool":
		return fmt.Errorf("%q is neither true nor false; give one of them", value)
	}
	return err
}

// flagError says what pflag found wrong in our words.
func flagError(c *cobra.Command, err error) error {
	usage := &usageError{text: err.Error(), command: c.CommandPath()}
	var missing *pflag.NotExistError
	var bad *pflag.InvalidValueError
	var needs *pflag.ValueRequiredError
	switch {
	case errors.As(err, &missing):
		name := missing.GetSpecifiedName()
		if letters := missing.GetSpecifiedShortnames(); letters != "" {
			usage.text = fmt.Sprintf("unknown flag -%s", name)
			if len(name) != len(letters) {
				usage.text += fmt.Sprintf(" in -%s", letters)
			}
			break
		}
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		usage.text = "unknown flag --" + name
		if n := suggest.Nearest(name, known); n != "" {
			usage.text += "; did you mean --" + n + "?"
		}
	case errors.As(err, &bad):
		usage.text = fmt.Sprintf("%s: %v", flagName(bad.GetFlag()), plainError(bad.GetFlag(), bad.GetValue(), errors.Unwrap(bad)))
	case errors.As(err, &needs):
		usage.text = fmt.Sprintf("%s needs a value", flagName(needs.GetFlag()))
	}
	return usage
}

// flagName is how users write a flag: the letter of the model's parameters, the
// word of all others.
func flagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

// exactArgs demands a number of arguments and names them if they are wrong.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		text := fmt.Sprintf("%s needs %s", c.CommandPath(), strings.Join(names, " and "))
		switch {
		case len(names) == 0:
			text = fmt.Sprintf("%s takes no argument, but was given %q", c.CommandPath(), args[0])
		case len(args) > len(names):
			text = fmt.Sprintf("%s takes only %s; %q is too much", c.CommandPath(), strings.Join(names, " and "), args[len(names)])
		}
		return &usageError{text: text, command: c.CommandPath()}
	}
}

// needVerb is the work of a command that only holds others.
func (a *app) needVerb(c *cobra.Command, args []string) error {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	text := fmt.Sprintf("%s needs one of %s", c.CommandPath(), strings.Join(names, ", "))
	if len(args) > 0 {
		text = fmt.Sprintf("unknown verb %s %s%s", c.Name(), args[0], suggest.Phrase(args[0], names))
	}
	return &usageError{text: text, command: c.CommandPath()}
}

func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB...]",
		Short: "Print the help of a verb.",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := a.root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return usagef("there is no verb %s", strings.Join(args, " "))
			}
			a.writeHelp(a.stdout, c)
			return nil
		},
	}
}
