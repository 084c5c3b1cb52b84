package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestFullDisk does the same with a real file system that becomes full, where one can be made.
func TestFullDisk(t *testing.T) {
	small := func(options string) string {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
			t.Skipf("no file system can be made here (TestNoRoom has a stand-in): %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
		return dir
	}
	// Room for the events of a rank, but not for its definitions, is too little as well, and so is none for further files: beside the two
	// folders, and the two files that are there before the program starts.
	dir, tiny := small("size=3m"), []string{small("size=600k"), small("size=1100k"), small("nr_inodes=4"), small("nr_inodes=5")}
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "gentle.c", "-O1", "-pthread", "-lrt")
		o := sampled(append(mpitest.Launch(l, 1), program, "many")...)
		for _, tiny := range tiny {
			o.Out = filepath.Join(tiny, "run.slt")
			r, err := tryRecord(t, o)
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "rank 0 cannot write to "+tiny) ||
				strings.Contains(err.Error(), "MPI_Init") {
				t.Errorf("no room for the first buffer: %v, want what happened, where, and a way out", err)
			}
			wantDone(t, r)
		}
		o.Out = filepath.Join(dir, "run.slt")
		r, err := tryRecord(t, o)
		wantDone(t, r)
		talk := strings.Join(r.talk, "\n")
		if err != nil { // the trace itself may find no room, either
			talk += err.Error()
		}
		if !strings.Contains(talk, "no space left on device") || strings.Contains(talk, "MPI_Init") {
			t.Errorf("what was said: %s", talk)
		}
		left, _ := filepath.Glob(filepath.Join(dir, ".run.slt-raw-*"))
		if err == nil || len(left) != 1 {
			os.RemoveAll(o.Out)
			return
		}
		out := filepath.Join(t.TempDir(), "elsewhere.slt")
		if _, err := Recover(left[0], Options{Out: out, Note: t.Logf, Warn: t.Logf}); err != nil {
			t.Errorf("recovery elsewhere: %v", err)
		}
	})
}
