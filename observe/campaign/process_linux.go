package campaign

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// diesWithParent lets a process end when the thread that started it does.
func diesWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// unbindThread lets this thread, and what it starts, use all cores that the system allows, also those to which a
// launcher has not bound this process. Where that is forbidden all stays as it is.
func unbindThread() {
	var all unix.CPUSet
	for i := range all {
		all[i] = ^all[i]
	}
	_ = unix.SchedSetaffinity(0, &all)
}

// closeInherited keeps descriptors that a launcher left open, such as its pipes, from the programs that this process
// starts: they would hold them when the job has ended.
func closeInherited() {
	open, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > syscall.Stderr {
			syscall.CloseOnExec(fd)
		}
	}
}
