// Package flags has the grammars of the command line: one type per kind of value (quantities with units, lists of counts,
// grids, fractions, choices), the numbers of arguments, and completion. It does not know any verb.
package flags

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slackline/model/unit"
)

// Quantity is a flag whose value has a unit, and which knows whether it was given.
type Quantity[T unit.Duration | unit.PerByte | unit.Size] struct {
	Value T
	Given bool
}

// Set implements pflag.Value.
func (q *Quantity[T]) Set(s string) (err error) {
	given := *q
	switch v := any(&given.Value).(type) {
	case *unit.Duration:
		*v, err = unit.ParseDuration(s)
	case *unit.PerByte:
		*v, err = unit.ParsePerByte(s)
	case *unit.Size:
		*v, err = unit.ParseSize(s)
	}
	if err == nil {
		*q, q.Given = given, true
	}
	return err
}

// Pointer returns the value, or nil if it was not given.
func (q *Quantity[T]) Pointer() *T {
	if !q.Given {
		return nil
	}
	return &q.Value
}

// String implements pflag.Value. What was not given is shown as nothing, so that
// the help claims no default.
func (q *Quantity[T]) String() string {
	if !q.Given {
		return ""
	}
	return fmt.Sprint(q.Value)
}

// Type implements pflag.Value.
func (q *Quantity[T]) Type() string {
	switch any(q.Value).(type) {
	case unit.PerByte:
		return "time/B"
	case unit.Size:
		return "size"
	}
	return "time"
}

// Time is a flag with a time of the operating system, in whole nanoseconds; it has a default.
type Time time.Duration

// Set implements pflag.Value.
func (t *Time) Set(s string) error {
	d, err := unit.ParseDuration(s)
	if err == nil {
		*t = Time(d / unit.Nanosecond)
	}
	return err
}

func (t *Time) String() string { return (unit.Duration(*t) * unit.Nanosecond).String() }

// Type implements pflag.Value.
func (t *Time) Type() string { return "time" }

// Factor is a flag with a number above 0.
type Factor struct {
	Value float64
	Given bool
}

// Set implements pflag.Value.
func (f *Factor) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%q is not a number above 0; give e.g. 10 or 0.1", s)
	}
	f.Value, f.Given = v, true
	return nil
}

// String implements pflag.Value.
func (f *Factor) String() string {
	if !f.Given {
		return ""
	}
	return strconv.FormatFloat(f.Value, 'g', -1, 64)
}

// Type implements pflag.Value.
func (f *Factor) Type() string { return "factor" }

// Complete offers the words as values of a flag.
func Complete(c *cobra.Command, flag string, words []string) {
	CompleteWith(c, flag, func() []string { return words })
}

// CompleteList offers the words as parts of a list separated by commas.
func CompleteList(c *cobra.Command, flag string, words []string) {
	complete(c, flag, func(prefix string) (found []string) {
		before := prefix[:strings.LastIndexByte(prefix, ',')+1]
		for _, w := range words {
			found = append(found, before+w)
		}
		return found
	})
}

// CompleteWith offers what list returns as values of a flag. The flag must exist.
func CompleteWith(c *cobra.Command, flag string, list func() []string) {
	complete(c, flag, func(string) []string { return list() })
}

// FirstOf offers what list returns, and files, as the first argument.
func FirstOf(list func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return starting(list(), prefix), cobra.ShellCompDirectiveDefault
	}
}

// starting are the words that start with a prefix.
func starting(words []string, prefix string) (found []string) {
	for _, w := range words {
		if strings.HasPrefix(w, prefix) {
			found = append(found, w)
		}
	}
	return found
}

func complete(c *cobra.Command, flag string, list func(prefix string) []string) {
	err := c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return starting(list(prefix), prefix), cobra.ShellCompDirectiveDefault // file names too
	})
	if err != nil {
		panic(err) // a mistake in this package
	}
}
