package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// program returns a command that runs slackline as a process of its own.
func program(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Args[0] = "slackline" // see TestMain
	return c
}

// signalAfter starts a program and sends it a signal after a while.
func signalAfter(t *testing.T, c *exec.Cmd, signal syscall.Signal, wait time.Duration) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(wait)
	if err := c.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// TestInterrupt interrupts a simulation that would take minutes.
func TestInterrupt(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		// The program may be slow to start; a signal that comes too early kills it.
		for _, wait := range []time.Duration{300 * time.Millisecond, 3 * time.Second, 20 * time.Second} {
			c := program("simulate", "pop", "--ranks", "16384", "--machine", "xt4")
			var stdout, stderr bytes.Buffer
			c.Stdout, c.Stderr = &stdout, &stderr
			signalAfter(t, c, signal, wait)
			_ = c.Wait()
			if c.ProcessState.ExitCode() == -1 {
				continue
			}
			if code := c.ProcessState.ExitCode(); code != 130 || stdout.Len() > 0 || stderr.String() != "slackline: interrupted\n" {
				t.Errorf("%v: exit code = %d, stdout = %q, stderr = %q; want 130, nothing, and that it was interrupted",
					signal, code, stdout.String(), stderr.String())
			}
			break
		}
	}
}

// TestInterruptSilentInput interrupts verbs that wait for a pipe on which nothing comes.
func TestInterruptSilentInput(t *testing.T) {
	for _, args := range [][]string{
		{"simulate", "-", "--machine", "chic"},
		{"convert", "-", "--to", "goal"},
		{"simulate", "/dev/stdin", "--machine", "chic"},
		{"noise", "stats", "-"},
	} {
		for _, wait := range []time.Duration{300 * time.Millisecond, 3 * time.Second, 20 * time.Second} {
			c := program(args...)
			silent, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			c.Stdout, c.Stderr = &stdout, &stderr
			signalAfter(t, c, syscall.SIGINT, wait)
			stuck := time.AfterFunc(20*time.Second, func() { c.Process.Kill() })
			_ = c.Wait()
			killed := !stuck.Stop()
			silent.Close()
			if !killed && c.ProcessState.ExitCode() == -1 {
				continue // the signal came before the program could take it
			}
			if code := c.ProcessState.ExitCode(); code != 130 || stdout.Len() > 0 || stderr.String() != "slackline: interrupted\n" {
				t.Errorf("%v: exit code = %d, stdout = %q, stderr = %q; want 130, nothing, and that it was interrupted",
					args, code, stdout.String(), stderr.String())
			}
			break
		}
	}
}
