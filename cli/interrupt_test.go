package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
)

// checkInterrupt runs the program with a silent standard input and sends it a signal. It must end with exit code 130 and
// one line. A signal that comes before the program can take it kills it; it is then tried again with more time, and only
// then.
func checkInterrupt(t *testing.T, signal syscall.Signal, args ...string) {
	t.Helper()
	var code int
	var stdout, stderr bytes.Buffer
	for _, wait := range []time.Duration{300 * time.Millisecond, 3 * time.Second, 20 * time.Second} {
		c := clitest.Program(args...)
		silent, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout.Reset()
		stderr.Reset()
		c.Stdout, c.Stderr = &stdout, &stderr
		clitest.SignalAfter(t, c, signal, wait)
		stuck := time.AfterFunc(2*time.Minute, func() { c.Process.Kill() })
		_ = c.Wait() // the exit code tells
		inTime := stuck.Stop()
		silent.Close()
		if code = c.ProcessState.ExitCode(); !inTime {
			t.Fatalf("%v: %v does not end it", args, signal)
		}
		if code != -1 {
			break
		}
	}
	if code != 130 || stdout.Len() > 0 || stderr.String() != "slackline: interrupted\n" {
		t.Errorf("%v: exit code after %v = %d (-1: killed), stdout = %q, stderr = %q; want 130, nothing, and that it was interrupted",
			args, signal, code, stdout.String(), stderr.String())
	}
}

// TestInterrupt interrupts a simulation that would take minutes.
func TestInterrupt(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		checkInterrupt(t, signal, "simulate", "pop", "--ranks", "16384", "--machine", "xt4")
	}
}

// TestInterruptAnalysis interrupts an analysis of minutes that does not look for interrupts, while it has a file to write.
func TestInterruptAnalysis(t *testing.T) {
	dir := t.TempDir()
	checkInterrupt(t, syscall.SIGINT, "tolerance", "sweep3d", "--ranks", "4096", "--machine", "chic", "--format", "json", "--quiet",
		"--out", filepath.Join(dir, "result.json"))
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", err, left)
	}
}

// TestInterruptSilentInput interrupts verbs that wait for a pipe on which nothing comes.
func TestInterruptSilentInput(t *testing.T) {
	checkInterrupt(t, syscall.SIGINT, "simulate", "-", "--machine", "chic")
	checkInterrupt(t, syscall.SIGINT, "convert", "-", "--to", "goal")
	checkInterrupt(t, syscall.SIGINT, "simulate", "/dev/stdin", "--machine", "chic")
	checkInterrupt(t, syscall.SIGINT, "noise", "stats", "-")
}
