//go:build unix && !linux

package campaign

import "syscall"

// diesWithParent does nothing: this system cannot.
func diesWithParent(*syscall.SysProcAttr) {}

func unbindThread()   {}
func closeInherited() {}
