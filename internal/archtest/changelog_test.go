package archtest

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestChangelog checks that CHANGELOG.md says nothing twice, however it is wrapped, in lines that fit on a screen.
func TestChangelog(t *testing.T) {
	data, err := os.ReadFile(projectRoot(t) + "/CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	const widest = 140
	for i, line := range strings.Split(string(data), "\n") {
		if n := utf8.RuneCountInString(line); n > widest {
			t.Errorf("CHANGELOG.md:%d has %d columns, want at most %d", i+1, n, widest)
		}
	}
	seen := map[string]bool{}
	for entry := range strings.SplitSeq(string(data), "\n* ") {
		text := strings.Join(strings.Fields(entry), " ")
		if seen[text] {
			t.Errorf("CHANGELOG.md says twice: %.80s ...", text)
		}
		seen[text] = true
	}
}
