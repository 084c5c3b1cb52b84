package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"slackline/internal/suggest"
	"slackline/model/unit"
)

// choice is a flag whose value is one of a few words.
type choice struct {
	value   string
	allowed []string
}

func newChoice(value string, allowed ...string) choice { return choice{value, allowed} }

// Set implements pflag.Value.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("%q is not one of %s%s", s, strings.Join(c.allowed, ", "), suggest.Phrase(s, c.allowed))
	}
	c.value = s
	return nil
}

func (c *choice) String() string { return c.value }

// Type implements pflag.Value.
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

// quantity is a flag whose value has a unit, and which knows whether it was given.
type quantity[T fmt.Stringer] struct {
	value T
	given bool
	parse func(string) (T, error)
	kind  string
}

func durationFlag() quantity[unit.Duration] {
	return quantity[unit.Duration]{parse: unit.ParseDuration, kind: "time"}
}

func perByteFlag() quantity[unit.PerByte] {
	return quantity[unit.PerByte]{parse: unit.ParsePerByte, kind: "time/B"}
}

func sizeFlag() quantity[unit.Size] {
	return quantity[unit.Size]{parse: unit.ParseSize, kind: "size"}
}

// Set implements pflag.Value.
func (q *quantity[T]) Set(s string) error {
	v, err := q.parse(s)
	if err != nil {
		return err
	}
	q.value, q.given = v, true
	return nil
}

// pointer returns the value, or nil if it was not given.
func (q *quantity[T]) pointer() *T {
	if !q.given {
		return nil
	}
	return &q.value
}

// String implements pflag.Value. What was not given is shown as nothing, so that
// the help claims no default.
func (q *quantity[T]) String() string {
	if !q.given {
		return ""
	}
	return q.value.String()
}

// Type implements pflag.Value.
func (q *quantity[T]) Type() string { return q.kind }

// factor is a flag with a number above 0.
type factor struct {
	value float64
	given bool
}

// Set implements pflag.Value.
func (f *factor) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%q is not a number above 0; give e.g. 10 or 0.1", s)
	}
	f.value, f.given = v, true
	return nil
}

// String implements pflag.Value.
func (f *factor) String() string {
	if !f.given {
		return ""
	}
	return strconv.FormatFloat(f.value, 'g', -1, 64)
}

// Type implements pflag.Value.
func (f *factor) Type() string { return "factor" }

// complete offers the words as values of a flag.
func complete(c *cobra.Command, flag string, words []string) {
	completeWith(c, flag, func() []string { return words })
}

// completeWith offers what list returns as values of a flag. The flag must exist.
func completeWith(c *cobra.Command, flag string, list func() []string) {
	err := c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var found []string
		for _, w := range list() {
			if strings.HasPrefix(w, prefix) {
				found = append(found, w)
			}
		}
		return found, cobra.ShellCompDirectiveDefault // file names too
	})
	if err != nil {
		panic(err) // a mistake in this package
	}
}
