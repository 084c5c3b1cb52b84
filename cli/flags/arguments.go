package flags

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/exit"
	"slackline/internal/suggest"
	"slackline/internal/table"
)

// Tool is the name of the program.
const Tool = "slackline"

// ArgumentsKey is the annotation of a command that describes its arguments:
// lines of "NAME: text".
const ArgumentsKey = "arguments"

// Arguments makes the annotation of a command from pairs of name and text.
func Arguments(pairs ...string) map[string]string {
	var lines []string
	for i := 0; i < len(pairs); i += 2 {
		lines = append(lines, pairs[i]+"\t"+pairs[i+1])
	}
	return map[string]string{ArgumentsKey: strings.Join(lines, "\n")}
}

// WritePairs writes names and texts as two columns.
func WritePairs(w io.Writer, pairs []Pair, width int) {
	t := table.Of("name", "text")
	for _, x := range pairs {
		t.Add("  "+x.Name, x.Text)
	}
	t.WriteText(w, table.TextOptions{Width: width, NoHeader: true})
}

// ExactArgs demands a number of arguments and names them if they are wrong.
func ExactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		text := fmt.Sprintf("%s needs %s", c.CommandPath(), strings.Join(names, " and "))
		switch {
		case len(names) == 0:
			text = fmt.Sprintf("%s takes no argument, but was given %q", c.CommandPath(), args[0])
		case len(args) > len(names):
			text = fmt.Sprintf("%s takes only %s; %q is too much%s", c.CommandPath(), strings.Join(names, " and "), args[len(names)],
				strayValue(c.Flags(), args))
		}
		return &exit.UsageError{Text: text, Command: c.CommandPath()}
	}
}

// strayValue is a hint if one of the arguments can be the value of a flag with an optional value, which was given without one.
func strayValue(fs *pflag.FlagSet, args []string) (hint string) {
	fs.Visit(func(f *pflag.Flag) {
		if hint != "" || f.NoOptDefVal == "" || f.Value.Type() == "bool" || f.Value.String() != f.NoOptDefVal {
			return
		}
		for _, arg := range args {
			if f.Value.Set(arg) == nil { // the command is not carried out
				hint = fmt.Sprintf("; a value of --%s is written with =, as in --%s=%s", f.Name, f.Name, arg)
				return
			}
		}
	})
	return hint
}

// NeedVerb is the work of a command that only holds others.
func NeedVerb(c *cobra.Command, args []string) error {
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
	return &exit.UsageError{Text: text, Command: c.CommandPath()}
}

// Pair is a name, and a text about it.
type Pair struct{ Name, Text string }

// AtLeastOne demands one argument or more.
func AtLeastOne(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return ExactArgs(name)(c, args)
		}
		return nil
	}
}
