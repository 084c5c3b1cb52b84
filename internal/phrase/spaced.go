package phrase

import "regexp"

// Durations that stand alone in a sentence, not those in names and flags.
var (
	durations    = regexp.MustCompile(`(^|[\s(])(\d+(?:\.\d+)?)(s|ms|us|ns|ps)\b`)
	microseconds = regexp.MustCompile(`(\d) us\b`)
)

// Spaced is a sentence with its durations as pages and figures write them: 33.82ms as 33.82 ms, 10us as 10 µs.
func Spaced(sentence string) string {
	return microseconds.ReplaceAllString(durations.ReplaceAllString(sentence, "$1$2 $3"), "$1 µs")
}
