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

// What the words of a name say. Whole words count, so that a sector is no second and strategy no rate.
var (
	// mishaps are better if there are fewer of them, at any rate; so is what is lost of a good thing.
	mishaps = regexp.MustCompile(`\b(?:page|cache|tlb|packet|msg|message)?(?:miss(?:es|ed)?|errors?|errs?|fail(?:s|ed|ures?)?|faults?|` +
		`loss(?:es)?|lost|drop(?:s|ped)?|stall(?:s|ed)?|retransmit(?:s|ted)?|retransmissions?|retry|retries|retried|timeouts?|conflicts?|` +
		`collisions?|evictions?|aborts?|aborted|overheads?|imbalance|idle|inefficien\w+)\b`)
	ratios    = regexp.MustCompile(`efficienc|speedup`) // also of times
	perTime   = regexp.MustCompile(`\bper ?(?:s|secs?|seconds?|unit time)\b`)
	timeSteps = regexp.MustCompile(`\btime steps?\b`)
	durations = regexp.MustCompile(`\b(?:times?|runtimes?|walltimes?|elapsed|seconds|latency|latencies|durations?|delays?|waits?|waiting)\b`)
	rates     = regexp.MustCompile(`bandwidth|throughput|goodput|busbw|algbw|[kmgtpe]flop|` +
		`\b(?:(?:msg|message|bit|hit|data|frame|packet)?rates?|[kmgtpe]?(?:iops|teps|lups|ups)|fom|ipc|frequency|frequencies)\b`)
)

var (
	innerCapital = regexp.MustCompile(`([a-z])([A-Z])`)
	noLetters    = regexp.MustCompile(`[^a-z]+`)
)

// wordsOf returns the words of a name in lower case: those of cacheMisses/s are cache misses s.
func wordsOf(metric string) string {
	return noLetters.ReplaceAllString(strings.ToLower(innerCapital.ReplaceAllString(metric, "$1 $2")), " ")
}

// LargerIsBetter reports whether the growth of a metric is good, by its name and unit: rates, bandwidths and efficiencies, but not those of
// mishaps (errors/s, bandwidth_loss), and no durations (seconds_per_sector).
func LargerIsBetter(metric, unit string) bool {
	words := wordsOf(metric)
	rest := timeSteps.ReplaceAllString(perTime.ReplaceAllString(words, " "), " ")
	switch {
	case IsDuration("", unit), mishaps.MatchString(words):
		return false
	case ratios.MatchString(words):
		return true
	case durations.MatchString(rest):
		return false
	}
	return strings.HasSuffix(unit, "/s") || strings.HasSuffix(strings.ToLower(metric), "/s") || perTime.MatchString(words) ||
		rates.MatchString(words)
}
