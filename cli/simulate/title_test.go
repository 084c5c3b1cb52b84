package simulate

import "testing"

// Figures of applications say what these are; others have the name of what is simulated.
func TestTitleOf(t *testing.T) {
	for input, want := range map[string]string{
		"llm": "llm: training of a language model", "dissemination": "dissemination", "app.slk": "app.slk",
	} {
		if got := titleOf(input); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
