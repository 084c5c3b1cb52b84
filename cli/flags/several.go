package flags

import (
	"strings"

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
