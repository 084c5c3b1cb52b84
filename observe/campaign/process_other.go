//go:build !unix

package campaign

import (
	"os"
	"os/exec"
)

func closeOnExec(int)                 {}
func ownGroup(*exec.Cmd)              {}
func ownSession(*exec.Cmd)            {}
func endGroup(int, <-chan struct{})   {}
func maxRSS(*os.ProcessState) int64   { return 0 }
func takeLock(*os.File) (bool, error) { return true, nil }
func unbindThread()                   {}
func closeInherited()                 {}
