package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/atomicfile"
	"slackline/internal/phrase"
)

// page is what there is to say of a command, free of any form. The help text, man
// pages and the documents come from the same commands.
type page struct {
	command   *cobra.Command
	usage     string
	short     string
	text      []string // paragraphs
	arguments []flags.Pair
	verbs     []pageGroup
	groups    []pageGroup // of flags
	examples  []string
}

// pageGroup is a list of verbs or flags under a heading.
type pageGroup struct {
	title string
	pairs []flags.Pair
}

// pageOf collects what there is to say of a command.
func pageOf(a *env.Env, c *cobra.Command) page {
	p := page{command: c, usage: usageLine(c), short: c.Short}
	long := c.Short
	if c.Long != "" {
		long = c.Long
	}
	p.text = strings.Split(long, "\n")
	if lines := c.Annotations[flags.ArgumentsKey]; lines != "" {
		for line := range strings.SplitSeq(lines, "\n") {
			name, text, _ := strings.Cut(line, "\t")
			p.arguments = append(p.arguments, flags.Pair{Name: name, Text: text})
		}
	}
	p.verbs = verbGroups(c)
	for _, g := range a.Groups[c] {
		p.groups = append(p.groups, pageGroup{g.Title, flagPairs(g.Flags)})
	}
	p.groups = append(p.groups, pageGroup{"Common flags", flagPairs(commonFlags(a, c))})
	if c.Example != "" {
		for line := range strings.SplitSeq(c.Example, "\n") {
			p.examples = append(p.examples, strings.TrimPrefix(line, "  "))
		}
	}
	return p
}

// verbGroups lists the verbs of a command under their headings.
func verbGroups(c *cobra.Command) []pageGroup {
	groups := []pageGroup{{title: "Verbs"}} // of those without a group
	for _, g := range c.Groups() {
		groups = append(groups, pageGroup{title: g.Title})
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		i := max(slices.IndexFunc(groups, func(g pageGroup) bool { return g.title == sub.GroupID }), 0)
		groups[i].pairs = append(groups[i].pairs, flags.Pair{Name: sub.Name(), Text: sub.Short})
	}
	return slices.DeleteFunc(groups, func(g pageGroup) bool { return len(g.pairs) == 0 })
}

// flagPairs lists the flags of a set, written as one types them, with what they do.
func flagPairs(fs *pflag.FlagSet) []flags.Pair {
	var list []flags.Pair
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		switch {
		case value != "" && f.NoOptDefVal != "":
			name += "[=" + value + "]"
		case value != "":
			name += " " + value
		}
		if tellsDefault(f) && !strings.Contains(text, "(default") {
			text += " (default " + f.DefValue + ")"
		}
		list = append(list, flags.Pair{Name: name, Text: text})
	})
	return list
}

// tellsDefault reports whether a flag has a default worth telling.
func tellsDefault(f *pflag.Flag) bool {
	switch f.DefValue {
	case "", "false", "0", "[]", "<nil>":
		return false
	}
	return true
}

// eachCommand visits a command and all below it that users see.
func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			eachCommand(sub, visit)
		}
	}
}

// manOptions are the flags of man.
type manOptions struct{ out string }

func manCommand(a *env.Env) *cobra.Command {
	var o manOptions
	c := &cobra.Command{
		Use:   "man [VERB...]",
		Short: "Print the manual page of a verb, or write all of them into a directory.",
		Long: "Print the manual page of slackline or of one of its verbs in the form that man reads, " +
			"or write the pages of all verbs into a directory with --out.",
		Annotations: flags.Arguments("VERB", "the verb, with the verb below it if it has some, e.g. measure noise"),
		Example: `  slackline man waits | man -l -
  slackline man --out /usr/local/share/man/man1`,
		RunE: func(_ *cobra.Command, args []string) error {
			if o.out != "" {
				if len(args) > 0 {
					return exit.Usagef("--out writes the pages of all verbs; leave out %s", strings.Join(args, " "))
				}
				return writeManuals(a, o.out)
			}
			c, rest, err := a.Root.Find(args)
			if err != nil || len(rest) > 0 {
				return errors.Join(err, exit.Usagef("there is no verb %s", strings.Join(args, " ")))
			}
			return writeRoff(a.Stdout, pageOf(a, c))
		},
	}
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		fs.StringVar(&o.out, "out", "", "write the pages of all verbs into this `directory`; it is made if needed")
	})
	return c
}

// writeManuals writes the pages of all commands into a directory.
func writeManuals(a *env.Env, dir string) error {
	var commands []*cobra.Command
	var names []string
	eachCommand(a.Root, func(c *cobra.Command) {
		commands, names = append(commands, c), append(names, manualName(c)+".1")
	})
	err := atomicfile.WriteInto(dir, names, []string{}, func(d *atomicfile.Dir) error {
		for i, c := range commands {
			f, err := d.Create(names[i])
			if err != nil {
				return err
			}
			if err := writeRoff(f, pageOf(a, c)); err != nil {
				return errors.Join(err, f.Close())
			}
			if err := f.Close(); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		a.Note("wrote %s into %s", phrase.Plural(len(names), "page"), dir)
	}
	return err
}

// manualName is the name of a command's page, e.g. slackline-measure-noise.
func manualName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }
