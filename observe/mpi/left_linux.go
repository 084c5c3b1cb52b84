package mpi

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// endWithThread lets a process be asked to end when the thread that has started it ends.
func endWithThread() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }

// endLeft ends the processes on this host that have all these variables: what a launcher has left behind, in whatever groups and sessions.
func endLeft(variables []Variable) {
	const patience, pause = time.Second, 20 * time.Millisecond
	for start := time.Now(); ; time.Sleep(pause) {
		left := having(variables)
		if len(left) == 0 {
			return
		}
		number := syscall.SIGTERM
		if time.Since(start) > patience {
			number = syscall.SIGKILL
		}
		for _, pid := range left {
			if group, err := syscall.Getpgid(pid); err == nil && group == pid { // with what it has started
				pid = -pid
			}
			_ = syscall.Kill(pid, number) // it may have ended
		}
		if time.Since(start) > 2*patience {
			return
		}
	}
}

// having are the other processes that were started with all these variables.
func having(variables []Variable) (list []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil { // it has ended, or belongs to another user
			continue
		}
		words := bytes.Split(data, []byte{0})
		lacks := slices.ContainsFunc(variables, func(v Variable) bool {
			return !slices.ContainsFunc(words, func(w []byte) bool { return string(w) == v.Name+"="+v.Value })
		})
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && !lacks && pid != os.Getpid() {
			list = append(list, pid)
		}
	}
	return list
}
