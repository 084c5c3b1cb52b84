// Package phrase writes numbers and small tables the same way everywhere: plurals, percentages, rates, cells.
package phrase

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// FirstSentence cuts a note after its first sentence, which names the machine.
func FirstSentence(note string) string {
	if first, _, more := strings.Cut(note, ". "); more {
		return first + "."
	}
	return note
}

// Grouped prints a count with separators of thousands, for people.
func Grouped[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// ByName gives terms or values the names of their parameters.
func ByName[T any](names []string, values []T) map[string]T {
	m := map[string]T{}
	for i, name := range names {
		m[name] = values[i]
	}
	return m
}

// Finite is a number that JSON can hold; nil: it is not finite.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// FiniteOr0 is the number, 0 if it is not finite.
func FiniteOr0(v float64) float64 {
	if Finite(v) == nil {
		return 0
	}
	return v
}

// Rate prints messages per second, for people.
func Rate(messages int64, took time.Duration) string {
	if took <= 0 {
		return "no time"
	}
	r := float64(messages) / took.Seconds()
	switch {
	case r >= 1e6:
		return fmt.Sprintf("%.1f million messages/s", r/1e6)
	case r >= 1e3:
		return fmt.Sprintf("%.1f thousand messages/s", r/1e3)
	}
	return fmt.Sprintf("%.0f messages/s", r)
}

// Plural prints a count with its noun.
func Plural[T int | int64](n T, noun string) string {
	switch {
	case n == 1, strings.HasSuffix(noun, "series"):
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return Grouped(n) + " " + noun
}

// Percent prints a part of a whole for people; "-" without a whole. Only what is nothing is 0 %, only what is all is 100.0 %.
func Percent[T ~int64 | ~float64](part, whole T) string {
	return percent(float64(part), float64(whole), part < whole)
}

// PercentOf is Percent of numbers that do not fit into 64 bits.
func PercentOf[T interface {
	Cmp(T) int
	Float() float64
}](part, whole T) string {
	return percent(part.Float(), whole.Float(), part.Cmp(whole) < 0)
}

func percent(part, whole float64, less bool) string {
	if whole == 0 {
		return "-"
	}
	p := 100 * part / whole
	switch {
	case p > -0.05 && p <= 0:
		return "0 %"
	case p > 0 && p < 0.05:
		return "< 0.1 %"
	case p >= 99.95 && less:
		return "> 99.9 %"
	}
	return fmt.Sprintf("%.1f %%", p)
}

// Bytes prints a number of bytes, for people.
func Bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return Plural(n, "byte")
}

// List joins words as in a sentence.
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// Lower returns the text with a small letter in front, unless it starts with an abbreviation such as MPI.
func Lower(s string) string {
	if s == "" || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
