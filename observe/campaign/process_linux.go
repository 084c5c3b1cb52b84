package campaign

import "syscall"

// diesWithParent lets a process end when the thread that started it does.
func diesWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
