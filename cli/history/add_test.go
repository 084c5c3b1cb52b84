package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
)

// A writer that is killed at any moment leaves its entry whole or not at all, and no other file; those that finished are there.
func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	history, data := filepath.Join(dir, "history"), filepath.Join(dir, "data.csv")
	if err := os.WriteFile(data, []byte("p,time\n1,1\n2,2\n4,4\n8,8\n16,16\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	add := func(i int) []string {
		return []string{"history", "add", data, "--dir", history, "--commit", fmt.Sprintf("c%02d", i), "--time",
			fmt.Sprintf("2026-04-12T09:%02d:00Z", i), "--quiet"}
	}
	if code, _, stderr := clitest.Run("", add(0)...); code != 0 {
		t.Fatal(stderr)
	}
	finished := 1
	for i := 1; i <= 12; i++ {
		c := clitest.Program(add(i)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 4 * time.Millisecond) // any moment will do
		_ = c.Process.Signal([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP}[i%3])
		if c.Wait() == nil {
			finished++
		}
	}
	entries := 0
	err := filepath.WalkDir(history, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(path) == ".json" {
			entries++
		}
		return err
	})
	code, stdout, stderr := clitest.Run("", "history", "show", "--dir", history)
	whole := code == 0 && strings.Contains(stdout, fmt.Sprintf("in %d commit", entries)) && !strings.Contains(stderr, "warning")
	if err != nil || !whole || entries < finished {
		t.Errorf("%v, exit code %d: %d entries, %d writers finished\n%s%s", err, code, entries, finished, stdout, stderr)
	}
}
