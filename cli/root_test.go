package cli

import (
	"io"
	"strings"
	"testing"

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
