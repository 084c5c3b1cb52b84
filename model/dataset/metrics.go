package dataset

import (
	"regexp"
	"slices"
	"strings"
)

// IsDuration reports whether a metric is a time, by its name and unit: it cannot be negative, and if all of it is 0 nothing was measured.
func IsDuration(metric, unit string) bool {
	switch strings.ToLower(unit) {
	case "s", "sec", "ms", "us", "ns", "min", "h":
		return true
	case "":
		name := strings.ToLower(metric)
		return !strings.Contains(name, "/") && slices.ContainsFunc([]string{"time", "latency", "duration"},
			func(word string) bool { return strings.Contains(name, word) })
	}
	return false
}

// What is better if it is larger: anywhere in a name; rates, which are no part of another word such as generate; and of these not those of
// what should not happen.
var (
	largerNames = regexp.MustCompile(`(?i)bandwidth|throughput|efficienc|speedup|busbw|algbw|[mgtp]flop|per_sec|/s$`)
	rateNames   = regexp.MustCompile(`(?i:^|[^a-z])(?i:msg|message|bit|hit|data|frame|packet)?(?i:rates?)(?i:$|[^a-z])|[a-z]Rates?(?:$|[^a-z])`)
	mishaps     = regexp.MustCompile(`(?i)miss|error|fail|fault|loss|drop|stall`)
)

// LargerIsBetter reports whether the growth of a metric is good, by its name and unit: rates, bandwidths and efficiencies.
func LargerIsBetter(metric, unit string) bool {
	switch {
	case strings.HasSuffix(unit, "/s") || largerNames.MatchString(metric):
		return !IsDuration("", unit)
	case rateNames.MatchString(metric):
		return !IsDuration("", unit) && !mishaps.MatchString(metric)
	}
	return false
}
