// Package phrase writes numbers and small tables the same way in all verbs: plurals, percentages, rates, cells.
package phrase

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"slackline/model/timeline"
	"slackline/model/unit"
)

func Short(n unit.Nanoseconds) string { return unit.Duration(n).Short() }

// PercentOf prints a part of a whole as a percentage; nothing without a whole.
func PercentOf(part, whole unit.Nanoseconds) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

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

// SizeOf says how many ranks and threads a run has.
func SizeOf(tl *timeline.Timeline) string {
	if len(tl.Locations) == tl.Ranks {
		return Plural(tl.Ranks, "rank")
	}
	return fmt.Sprintf("%s, %s", Plural(tl.Ranks, "rank"), Plural(len(tl.Locations), "thread"))
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

// Tidy prints the time that something took, for people.
func Tidy(d time.Duration) string {
	return unit.Duration(d.Nanoseconds() * 1000).Short()
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
	if n != 1 {
		noun += "s"
	}
	return Grouped(n) + " " + noun
}

// ExactSeconds is a duration as an exact decimal number of seconds.
func ExactSeconds(d unit.Duration) json.Number { return json.Number(d.Seconds()) }

// Percent prints a part of a whole for people.
func Percent(part, whole unit.Duration) string {
	if whole == 0 {
		return "-"
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case part == 0:
		return "0 %"
	case p < 0.05:
		return "< 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", p)
}

// InCallPath names a call path in a table.
func InCallPath(path string) string {
	if path == "" {
		return "(no call)"
	}
	return path
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
