package flags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/suggest"
)

// choice is a flag whose value is one of a few words.
type choice[T ~string] struct {
	to      *T
	allowed []string
}

// AddChoice adds a flag whose value is one of the allowed words; to begins with value, which may be none of them.
func AddChoice[T ~string](fs *pflag.FlagSet, to *T, name, usage string, value T, allowed ...T) {
	c := &choice[T]{to: to}
	for _, word := range allowed {
		c.allowed = append(c.allowed, string(word))
	}
	*to = value
	fs.Var(c, name, usage)
}

// Set implements pflag.Value.
func (c *choice[T]) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("%q is not one of %s%s", s, strings.Join(c.allowed, ", "), suggest.Phrase(s, c.allowed))
	}
	*c.to = T(s)
	return nil
}

func (c *choice[T]) String() string { return string(*c.to) }

// Type implements pflag.Value.
func (c *choice[T]) Type() string { return strings.Join(c.allowed, "|") }

// words are what is allowed.
func (c *choice[T]) words() []string { return c.allowed }

// CompleteChoices offers what flags allow that are a choice.
func CompleteChoices(c *cobra.Command, fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		if choice, ok := f.Value.(interface{ words() []string }); ok {
			Complete(c, f.Name, choice.words())
		}
	})
}
