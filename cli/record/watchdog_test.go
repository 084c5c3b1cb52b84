package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestWatchdog wants a standstill to be reported once, on the standard error and in a file, while the program runs on.
func TestWatchdog(t *testing.T) {
	mpitest.Both(t, func(t *testing.T, l *mpi.Library) {
		program := mpitest.Build(t, l, filepath.Join("..", "hang", "testdata", "cases.c"), "-g", "-O1")
		dir := t.TempDir()
		args := append([]string{"record", "--watchdog", "1s", "--yield", "on", "--out", filepath.Join(dir, "app.slt"), "--"},
			mpitest.Launch(l, 4)...)
		job := clitest.Program(append(args, program, "wait_never", "4")...) // which shares its standard error with the program
		var stderr strings.Builder
		job.Stderr = &stderr
		ended := job.Run()
		const says = "Rank 0 is in MPI_Wait and waits for a message from rank 1 (tag 9,"
		if ended == nil || strings.Count(stderr.String(), says) != 1 || !strings.Contains(stderr.String(), "no rank has made an MPI call for") {
			t.Errorf("got %v, want the end by a signal, and %q once in\n%s", ended, says, stderr.String())
		}
		text, err := os.ReadFile(filepath.Join(dir, "app.hang.txt"))
		if err != nil || !strings.Contains(string(text), says) {
			t.Errorf("%v: %q does not say %q", err, text, says)
		}
		if _, err := os.Stat(filepath.Join(dir, "app.slt")); err != nil {
			t.Error(err)
		}
	})
}
