package spin

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Yield lets others run: goroutines, and threads of any process that want this core.
func Yield() {
	runtime.Gosched()
	unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
}
