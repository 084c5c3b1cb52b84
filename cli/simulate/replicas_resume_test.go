package simulate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// TestResumeDamaged: a file of replicas that is not as it was written gives no other results.
func TestResumeDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.jsonl")
	args := []string{"simulate", "dissemination", "--ranks", "4,8", "--machine", "cnl", "--noise", "1000Hz:100us",
		"--replicas", "3", "--format", "csv", "--samples", "--resume", path}
	code, want, stderr := clitest.Run("", args...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	resume := func(text string) (int, string, string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return clitest.Run("", args...)
	}

	text := string(whole)
	at := strings.Index(text, `"makespans_ps":[`) + len(`"makespans_ps":[`)
	digit := string('0' + (text[at]-'0'+1)%10)
	code, _, stderr = resume(text[:at] + digit + text[at+1:])
	if code != 1 || !strings.Contains(stderr, path+":2: the line is damaged") {
		t.Errorf("a digit changed: exit code %d, %s", code, stderr)
	}

	code, got, stderr := resume(text[:len(text)-20])
	if code != 0 || got != want || !strings.Contains(stderr, path+":3: the file ends in the middle of this line") {
		t.Errorf("cut off: exit code %d, %s\n%s\nwant\n%s", code, stderr, got, want)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != text {
		t.Errorf("cut off: the file is not whole again (%v):\n%s", err, again)
	}
}
