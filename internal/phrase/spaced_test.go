package phrase

import "testing"

// Durations in sentences have the form of pages; those of names, flags and words stay.
func TestSpaced(t *testing.T) {
	for text, want := range map[string]string{
		"33.82ms excess time of rank 2 in solve":  "33.82 ms excess time of rank 2 in solve",
		"10us (5ns) of 2s: 30us instead of 40us.": "10 µs (5 ns) of 2 s: 30 µs instead of 40 µs.",
		"--delay 4@0:20us, step10s and 2msg":      "--delay 4@0:20us, step10s and 2msg",
		"it told us nothing":                      "it told us nothing",
	} {
		if got := Spaced(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
