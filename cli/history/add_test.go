package history_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
)

// A writer that is killed at any moment, while another one writes, leaves its entry whole or not at all; those that finished are there,
// and the other one always finishes. The moments are spread over how long a writer takes here.
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
	start := time.Now()
	if err := clitest.Program(add(1)...).Run(); err != nil {
		t.Fatal(err)
	}
	takes := time.Since(start)
	const rounds = 16
	want := []string{"-c00-", "-c01-"}
	for i := range rounds {
		killed, other := clitest.Program(add(10+i)...), clitest.Program(add(30+i)...)
		if err := errors.Join(killed.Start(), other.Start()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(takes * time.Duration(i) * 3 / (2 * rounds)) // up to one and a half times
		signal := syscall.SIGKILL
		if i%4 == 3 {
			signal = syscall.SIGTERM
		}
		_ = killed.Process.Signal(signal) // it may be gone
		if killed.Wait() == nil {
			want = append(want, fmt.Sprintf("-c%02d-", 10+i))
		}
		if err := other.Wait(); err != nil {
			t.Errorf("round %d: the other writer: %v", i, err)
		}
		want = append(want, fmt.Sprintf("-c%02d-", 30+i))
	}
	var names []string
	err := filepath.WalkDir(history, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(path) == ".json" {
			names = append(names, e.Name())
		}
		return err
	})
	entries, all := len(names), strings.Join(names, " ")
	for _, commit := range want {
		if !strings.Contains(all, commit) {
			t.Errorf("a writer finished, but its entry %s is not in %s", commit, all)
		}
	}
	code, stdout, stderr := clitest.Run("", "history", "show", "--dir", history)
	whole := code == 0 && strings.Contains(stdout, fmt.Sprintf("in %d commit", entries)) && !strings.Contains(stderr, "warning")
	if err != nil || !whole {
		t.Errorf("%v, exit code %d: %d entries, %d writers finished\n%s%s", err, code, entries, len(want), stdout, stderr)
	}
}
