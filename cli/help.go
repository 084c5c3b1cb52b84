package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/suggest"
	"slackline/internal/table"
)

// writeHelp writes the help of a command: usage, one sentence, arguments, flags,
// examples, exit codes.
func writeHelp(a *env.Env, w io.Writer, c *cobra.Command) {
	width := env.WidthOf(w)
	head := func(s string) { fmt.Fprintf(w, "\n%s\n", a.Bold(s)) }
	p := pageOf(a, c)
	fmt.Fprintf(w, "%s\n  %s\n\n", a.Bold("Usage:"), p.usage)
	for _, paragraph := range p.text {
		for _, line := range table.Wrap(paragraph, width) {
			fmt.Fprintln(w, line)
		}
	}
	if len(p.arguments) > 0 {
		head("Arguments:")
		flags.WritePairs(w, p.arguments, width)
	}
	for _, g := range p.verbs {
		head(g.title + ":")
		flags.WritePairs(w, g.pairs, width)
	}
	for _, g := range a.Groups[c] {
		head(g.Title + ":")
		fmt.Fprint(w, g.Flags.FlagUsagesWrapped(width))
	}
	head("Common flags:")
	fmt.Fprint(w, commonFlags(a, c).FlagUsagesWrapped(width))
	if c.Example != "" {
		head("Examples:")
		fmt.Fprintln(w, c.Example)
	}
	head("Exit codes:")
	for _, line := range table.Wrap(exit.Help, width-2) {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// commonFlags are the flags of a command that belong to no group.
func commonFlags(a *env.Env, c *cobra.Command) *pflag.FlagSet {
	fs := pflag.NewFlagSet("common", pflag.ContinueOnError)
	fs.SortFlags = false
	grouped := func(name string) bool {
		for _, g := range a.Groups[c] {
			if g.Flags.Lookup(name) != nil {
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

// plainError explains in our words why a flag does not take a value: those of pflag mention
// the functions that it calls.
func plainError(f *pflag.Flag, value string, err error) error {
	switch f.Value.Type() {
	case "int":
		return fmt.Errorf("%q is not a whole number; give e.g. 4", value)
	case "uint64":
		return fmt.Errorf("%q is not a whole number from 0 to 2^64 - 1; give e.g. 42", value)
	case "float64":
		return fmt.Errorf("%q is not a number; give e.g. 2.5", value)
	case "bool":
		return fmt.Errorf("%q is neither true nor false; give one of them", value)
	}
	return err
}

// checkEmpty refuses flags with nothing for a value, mostly from a shell variable that is not set: a check against the baseline
// "" would be none.
func checkEmpty(c *cobra.Command) (err error) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if err == nil && f.Changed && f.Value.Type() == "string" && f.Value.String() == "" {
			err = &exit.UsageError{Text: flagName(f) + ": the value is empty; give one, or leave out the flag", Command: c.CommandPath()}
		}
	})
	return err
}

// flagError says what pflag found wrong in our words.
func flagError(c *cobra.Command, err error) error {
	usage := &exit.UsageError{Text: err.Error(), Command: c.CommandPath()}
	var missing *pflag.NotExistError
	var bad *pflag.InvalidValueError
	var needs *pflag.ValueRequiredError
	switch {
	case errors.As(err, &missing):
		name := missing.GetSpecifiedName()
		if letters := missing.GetSpecifiedShortnames(); letters != "" {
			usage.Text = fmt.Sprintf("unknown flag -%s", name)
			if len(name) != len(letters) {
				usage.Text += fmt.Sprintf(" in -%s", letters)
			}
			break
		}
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		usage.Text = "unknown flag --" + name
		if n := suggest.Nearest(name, known); n != "" {
			usage.Text += "; did you mean --" + n + "?"
		}
	case errors.As(err, &bad):
		usage.Text = fmt.Sprintf("%s: %v", flagName(bad.GetFlag()), plainError(bad.GetFlag(), bad.GetValue(), errors.Unwrap(bad)))
	case errors.As(err, &needs):
		usage.Text = fmt.Sprintf("%s needs a value", flagName(needs.GetFlag()))
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

func helpCommand(a *env.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB...]",
		Short:   "Print the help of a verb.",
		GroupID: string(env.Others),
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := a.Root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return exit.Usagef("there is no verb %s", strings.Join(args, " "))
			}
			writeHelp(a, a.Stdout, c)
			return nil
		},
	}
}
