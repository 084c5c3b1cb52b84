package flags

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// each is a flag that may be given several times.
type each[T any] struct {
	list  *[]T
	parse func(string) (T, error)
	words []string
}

// AddEach adds a flag that may be given several times; what is given becomes elements of a list.
func AddEach[T any](fs *pflag.FlagSet, list *[]T, parse func(string) (T, error), name, usage string) {
	fs.Var(&each[T]{list: list, parse: parse}, name, usage)
}

// Set implements pflag.Value.
func (e *each[T]) Set(text string) error {
	v, err := e.parse(text)
	if err == nil {
		*e.list, e.words = append(*e.list, v), append(e.words, text)
	}
	return err
}

func (e *each[T]) String() string { return strings.Join(e.words, " ") }

// Type implements pflag.Value.
func (e *each[T]) Type() string { return "value" }

// Each implements severalTimes.
func (e *each[T]) Each() []string { return e.words }

// severalTimes are the flags of this program that may be given several times; those of pflag are slices.
type severalTimes interface{ Each() []string }

// TwiceError says that a flag has two values.
type TwiceError struct{ First, Second string }

func (e *TwiceError) Error() string {
	return fmt.Sprintf("is given twice, as %q and as %q; give it once", e.First, e.Second)
}

// once is a flag that has one value: the same one again is fine, another one a contradiction.
type once struct {
	pflag.Value
	flag  *pflag.Flag
	first string
}

// Set implements pflag.Value.
func (o *once) Set(text string) error {
	if o.flag.Changed && text != o.first {
		return &TwiceError{o.first, text}
	}
	o.first = text
	return o.Value.Set(text)
}

// RefuseRepeats makes all flags of a command and of the verbs below it refuse a second value, unless they are lists. It must not
// depend on their order what a long command, or one that a script puts together, means.
func RefuseRepeats(c *cobra.Command) {
	guard := func(f *pflag.Flag) {
		switch f.Value.(type) {
		case *once, severalTimes, pflag.SliceValue:
		default:
			f.Value = &once{Value: f.Value, flag: f}
		}
	}
	c.PersistentFlags().VisitAll(guard)
	c.Flags().VisitAll(guard)
	for _, sub := range c.Commands() {
		RefuseRepeats(sub)
	}
}
