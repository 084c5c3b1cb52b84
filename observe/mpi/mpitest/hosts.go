package mpitest

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/internal/needed"
	"slackline/observe/mpi"
)

// Hosts are three hosts on this machine: namespaces with a network, a name, a /tmp and a clock of their own. What they are like
// is in hosts/hosts, the script that makes them. Whatever was started on them ends with that script, and it ends with this process.
type Hosts struct {
	Dir   string // the only folder below /tmp that they share
	maker *exec.Cmd
}

// NewHosts makes hosts for the time of a test; it takes half a second. Where the kernel does not allow namespaces, or not to
// this user, the test is skipped, in continuous integration, too: no package brings them.
func NewHosts(t testing.TB) *Hosts {
	t.Helper()
	needed.Full(t, "several hosts")
	for _, tool := range [][2]string{{"ip", "of the package iproute2"}, {"unshare", "of the package util-linux"},
		{"nsenter", "of the package util-linux"}} {
		needed.Tool(t, tool[0], tool[1])
	}
	try := exec.Command("unshare", "--pid", "--net", "--uts", "--ipc", "--mount", "--time", "--monotonic", "1000", "--fork",
		"sh", "-c", "mount -t proc proc /proc && "+
			"ip link add va type veth peer name vb && ip link add bridge0 type bridge && mount -t tmpfs tmpfs /dev/shm")
	out, err := try.CombinedOutput()
	refused := slices.ContainsFunc([]string{"not permitted", "ermission denied", "not supported", "nknown device type", "nvalid argument"},
		func(why string) bool {
			return strings.Contains(string(out), why)
		})
	switch {
	case err != nil && !refused:
		t.Fatalf("%v: %v: %s", try.Args, err, out)
	case err != nil:
		t.Skipf("several hosts were not tested: namespaces, which would be the hosts, are not allowed here (%v: %s)", err, bytes.TrimSpace(out))
	}
	script, err := hostsScript()
	if err != nil {
		t.Fatal(err)
	}
	h := &Hosts{Dir: t.TempDir()}
	h.maker = exec.Command(script, h.Dir, "sh", "-c", "echo ready && cat") // until its standard input ends, however this process does
	c := h.maker
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	ready, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var messages bytes.Buffer
	c.Stderr = &messages
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = c.Wait()
	})
	if line, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		_ = c.Wait()
		t.Fatalf("%s: %q, %v: %s", script, line, err, &messages)
	}
	return h
}

// hostsScript finds the script in the checkout around the current directory.
func hostsScript() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		script := filepath.Join(dir, "observe", "mpi", "mpitest", "hosts", "hosts")
		if _, err = os.Stat(script); err == nil || dir == filepath.Dir(dir) {
			return script, err
		}
		dir, err = filepath.Dir(dir), nil
	}
	return "", err
}

// Share makes a program visible to all hosts and returns its path there.
func (h *Hosts) Share(t testing.TB, program string) string {
	t.Helper()
	path := filepath.Join(h.Dir, filepath.Base(program))
	data, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(path, data, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Command is a command on the first host, with the MPI of the site set up: its launcher starts ranks on the hosts in turn. It
// is ended if it takes far too long.
func (h *Hosts) Command(t testing.TB, l *mpi.Library, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(filepath.Join(h.Dir, strings.ToLower(Name(l.Kind))), args...)
	c.Dir = h.Dir
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stuck := time.AfterFunc(5*time.Minute, func() {
		if c.Process != nil {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		}
	})
	t.Cleanup(func() { stuck.Stop() })
	c.WaitDelay = 5 * time.Second
	return c
}
