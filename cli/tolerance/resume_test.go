package tolerance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// TestToleranceGoesOn cuts the file of answers at every line and in the midst of lines: the result stays the same, and
// a file of another question or one that was changed is refused.
func TestToleranceGoesOn(t *testing.T) {
	for _, question := range []string{
		"tolerance dissemination --ranks 16 --machine cnl --noise 1000Hz:100us --replicas 6 --limit 60us --format json",
		"tolerance dissemination --ranks 16 --machine cnl --map-G 0.1ns:1ns:4 --range 0:20us --format csv",
	} {
		path := filepath.Join(t.TempDir(), "kept.jsonl")
		args := append(strings.Fields(question), "--resume", path)
		result := func() string {
			code, stdout, stderr := clitest.Run("", args...)
			if code != 0 {
				t.Fatalf("%v: exit code %d: %s", args, code, stderr)
			}
			stdout, _, _ = strings.Cut(stdout, `"provenance"`)
			return stdout
		}
		code, want, stderr := clitest.Run("", args[:len(args)-2]...)
		if code != 0 {
			t.Fatal(stderr)
		}
		want, _, _ = strings.Cut(want, `"provenance"`)
		if got := result(); got != want {
			t.Fatalf("with --resume:\n%s\nwithout:\n%s", got, want)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, cut := range []int{len(whole), len(whole) - 7, strings.Index(string(whole), "\n") + 1, 5, 0} {
			if err := os.WriteFile(path, whole[:cut], 0o666); err != nil {
				t.Fatal(err)
			}
			if got := result(); got != want {
				t.Errorf("from %d of %d bytes:\n%s\nwant:\n%s", cut, len(whole), got, want)
			}
		}
		code, _, stderr = clitest.Run("", append(args, "--tolerance", "3%")...)
		if code != 1 || !strings.Contains(stderr, "holds answers to another question") {
			t.Errorf("another question: exit code %d, %s", code, stderr)
		}
		changed := strings.Replace(string(whole), `"T":`, `"T":1`, 1)
		if err := os.WriteFile(path, []byte(changed), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr = clitest.Run("", args...); code != 1 || !strings.Contains(stderr, "is damaged") {
			t.Errorf("a changed answer: exit code %d, %s", code, stderr)
		}
	}
	code, _, stderr := clitest.Run("", "tolerance", "ring", "--ranks", "8", "--machine", "cnl", "--resume", "x")
	if code != 2 || !strings.Contains(stderr, "--resume needs several runs") {
		t.Errorf("one run: exit code %d, %s", code, stderr)
	}
}
