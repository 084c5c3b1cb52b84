package mpitest

import (
	"bufio"
	"context"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestHostsLeaveNothing kills what makes the hosts, as one that ends a test from outside does: a program on a host, of another
// session, ends as well.
func TestHostsLeaveNothing(t *testing.T) {
	h := NewHosts(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(h.Dir, "on"), "node2", "sh", "-c", "echo running; sleep 90 & wait")
	c.Dir, c.SysProcAttr = h.Dir, &syscall.SysProcAttr{Setsid: true}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "running" {
		t.Fatalf("the program wrote %q", lines.Text())
	}
	if err := h.maker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() || ctx.Err() != nil { // the end of the last process that has its output
		t.Errorf("it wrote %q, %v; want its end", lines.Text(), ctx.Err())
	}
	_ = c.Wait()
}
