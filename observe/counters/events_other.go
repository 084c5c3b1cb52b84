//go:build !linux

package counters

import "syscall"

// events is empty: perf events are of Linux.
var events []Event

// Probe reports that nothing can be counted here.
func (Event) Probe() error { return syscall.ENOSYS }
