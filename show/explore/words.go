package explore

import "regexp"

// Durations that stand alone in a sentence, not those in names and flags.
var (
	durations    = regexp.MustCompile(`(^|[\s(])(\d+(?:\.\d+)?)(s|ms|us|ns|ps)\b`)
	microseconds = regexp.MustCompile(`(\d) us\b`)
)

// spaced is a sentence with its durations as the page writes all of them: 33.82ms as 33.82 ms.
func spaced(sentence string) string {
	return microseconds.ReplaceAllString(durations.ReplaceAllString(sentence, "$1$2 $3"), "$1 µs")
}
