package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// shells are programs that open /dev/null for writing only, so that one of them has closed a stream in its place.
var shells = []string{"ash", "bash", "busybox", "dash", "fish", "ksh", "ksh93", "mksh", "sh", "yash", "zsh"}

// refuseClosed makes writing to the standard output an error again if it was closed when the program started
// ('slackline waits run.slt >&-'). Go's runtime opens /dev/null in its place, for reading and writing, so that a result
// would be lost silently. Other programs open it in that way, too, where the output is not wanted; hence the
// parent decides: its own standard output is closed, or it is a shell whose output goes elsewhere.
func refuseClosed(stdout io.Writer) {
	f, ok := stdout.(*os.File)
	if !ok || f.Fd() != 1 || !isNull("/proc/self/fd/1") {
		return
	}
	if mode, err := unix.FcntlInt(1, unix.F_GETFL, 0); err != nil || mode&unix.O_ACCMODE != unix.O_RDWR {
		return
	}
	parent := filepath.Join("/proc", strconv.Itoa(os.Getppid()))
	if _, err := os.Lstat(parent + "/fd/1"); !errors.Is(err, fs.ErrNotExist) {
		exe, _ := os.Readlink(parent + "/exe") // nothing of another user
		if !slices.Contains(shells, filepath.Base(exe)) || isNull(parent+"/fd/1") {
			return
		}
	}
	if null, err := os.Open(os.DevNull); err == nil {
		defer null.Close()
		_ = unix.Dup2(int(null.Fd()), 1) // if it cannot be, it stays as it was
	}
}

func isNull(link string) bool {
	name, err := os.Readlink(link)
	return err == nil && name == os.DevNull
}
