package cli

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
)

// Every verb of the registry is a command of its name, in a group that the help shows.
func TestRegistry(t *testing.T) {
	a := env.New(nil, strings.NewReader(""), io.Discard, io.Discard)
	root := rootCommand(a)
	for _, v := range registry {
		c, _, err := root.Find([]string{v.Name})
		if err != nil || c.Name() != v.Name {
			t.Errorf("%s: the command is %q, error %v", v.Name, c.Name(), err)
			continue
		}
		if !root.ContainsGroup(c.GroupID) {
			t.Errorf("%s: the help does not show the group %q", v.Name, c.GroupID)
		}
		if c.Short == "" || c.Example == "" {
			t.Errorf("%s: no sentence, or no example", v.Name)
		}
	}
}

// Every flag that is a choice between words offers them to the shell.
func TestChoicesComplete(t *testing.T) {
	a := env.New(nil, strings.NewReader(""), io.Discard, io.Discard)
	found := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			choice := strings.Split(f.Value.Type(), "|")
			if len(choice) < 2 {
				return
			}
			found++
			complete, ok := c.GetFlagCompletionFunc(f.Name)
			if !ok {
				t.Errorf("%s --%s: no completion", c.CommandPath(), f.Name)
				return
			}
			if words, _ := complete(c, nil, ""); !slices.Equal(words, choice) {
				t.Errorf("%s --%s: completed as %q, want %q", c.CommandPath(), f.Name, words, choice)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(rootCommand(a))
	if found < 60 {
		t.Errorf("%d flags are choices: not all were looked at", found)
	}
}
