//go:build unix

package campaign

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

func closeOnExec(descriptor int) { syscall.CloseOnExec(descriptor) }

// ownGroup gives a program a process group of its own, which ends with its supervisor.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	diesWithParent(c.SysProcAttr)
}

// ownSession makes a supervisor independent of the campaign and its terminal.
func ownSession(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// endGroup asks the processes of a group to end, and ends them if they do not in time.
func endGroup(group int, ended <-chan struct{}) {
	_ = syscall.Kill(-group, syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(grace):
	}
	_ = syscall.Kill(-group, syscall.SIGKILL) // also what the program left running
}

// maxRSS is the largest resident set of a process and those it waited for, in bytes.
func maxRSS(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024
}

// takeLock locks a file; false: another process has it.
func takeLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
