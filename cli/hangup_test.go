package cli_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
)

// TestHangup interrupts by a terminal that is closed, and wants nohup to hold.
func TestHangup(t *testing.T) {
	taken := make(chan os.Signal, 1)
	signal.Notify(taken, syscall.SIGHUP) // what is started does not ignore it then, whatever started this test
	defer signal.Stop(taken)
	args := []string{"simulate", "pop", "--ranks", "16384", "--machine", "xt4"}
	checkInterrupt(t, syscall.SIGHUP, args...)
	signal.Ignore(syscall.SIGHUP) // as nohup does, for what is started
	c := clitest.Program(args...)
	clitest.SignalAfter(t, c, syscall.SIGHUP, time.Second)
	signal.Reset(syscall.SIGHUP)
	time.Sleep(time.Second)
	_ = c.Process.Kill()
	_ = c.Wait()
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("under nohup it ended with %v after SIGHUP, want it to go on", c.ProcessState)
	}
}
