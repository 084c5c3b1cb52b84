package cli_test

import (
	"os/signal"
	"syscall"
	"testing"
	"time"

	"slackline/internal/needed"
)

// TestHangup interrupts by a terminal that is closed, and wants nohup to hold.
func TestHangup(t *testing.T) {
	needed.That(t, !signal.Ignored(syscall.SIGHUP), "SIGHUP, which is ignored here,")
	args := []string{"simulate", "pop", "--ranks", "16384", "--machine", "xt4"}
	checkInterrupt(t, syscall.SIGHUP, args...)
	signal.Ignore(syscall.SIGHUP) // as nohup does, for what is started
	c := program(args...)
	signalAfter(t, c, syscall.SIGHUP, time.Second)
	signal.Reset(syscall.SIGHUP)
	time.Sleep(time.Second)
	_ = c.Process.Kill()
	_ = c.Wait()
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("under nohup it ended with %v after SIGHUP, want it to go on", c.ProcessState)
	}
}
