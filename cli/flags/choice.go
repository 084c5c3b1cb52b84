package flags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/suggest"
)

// Choice is a flag whose value is one of a few words.
type Choice struct {
	Value   string
	Allowed []string
}

func NewChoice(value string, allowed ...string) Choice { return Choice{value, allowed} }

// Set implements pflag.Value.
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.Allowed, s) {
		return fmt.Errorf("%q is not one of %s%s", s, strings.Join(c.Allowed, ", "), suggest.Phrase(s, c.Allowed))
	}
	c.Value = s
	return nil
}

func (c *Choice) String() string { return c.Value }

// Type implements pflag.Value.
func (c *Choice) Type() string { return strings.Join(c.Allowed, "|") }

// CompleteChoices offers what flags allow that are a choice.
func CompleteChoices(c *cobra.Command, fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		if choice, ok := f.Value.(*Choice); ok {
			Complete(c, f.Name, choice.Allowed)
		}
	})
}
