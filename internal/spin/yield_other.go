//go:build !linux

package spin

import "runtime"

// Yield lets others run: goroutines, and not other processes, which the system must see to.
func Yield() { runtime.Gosched() }
