package cli_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// asNobody does something with the permissions for files of a user without rights. It must not be left to other goroutines.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	const nobody = 65534
	if os.Geteuid() != 0 {
		do()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setfsuid(0) }()
	do()
}
