//go:build unix

package memory

import (
	"runtime"
	"syscall"
	"time"
)

// Used returns the largest memory that this process has had so far, in bytes, and the CPU time that
// it has taken; ok is false if the system does not report it.
func Used() (peak int64, cpu time.Duration, ok bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0, false
	}
	peak = int64(u.Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		peak <<= 10 // elsewhere it is in KiB
	}
	return peak, time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
