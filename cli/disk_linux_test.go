package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/internal/needed"
)

// TestFullDiskLeavesNothing wants all files that belong together, or none.
func TestFullDiskLeavesNothing(t *testing.T) {
	needed.Disk(t, "size=100k", func(dir string) {
		for _, args := range [][]string{{"man", "--out", "new"}, {"demo", "--out", "new"}} {
			c := clitest.Program(args...)
			c.Dir = dir
			out, err := c.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "no space left on device") {
				t.Errorf("%q: %v, %s", args, err, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
				t.Errorf("%q left a folder", args)
			}
		}
	})
}
