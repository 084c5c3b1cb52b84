package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"slackline/internal/needed"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestFullDisk does the same with a real file system that becomes full.
func TestFullDisk(t *testing.T) {
	// Room for the events of a rank, but not for its definitions, is too little as well, and so is none for further files: beside the two
	// folders, and the two files that are there before the program starts.
	for _, options := range []string{"size=600k", "size=1100k", "nr_inodes=4", "nr_inodes=5"} {
		t.Run(options, func(t *testing.T) { needed.Disk(t, options, func(dir string) { wantNoFirstBuffer(t, dir) }) })
	}
	t.Run("later", func(t *testing.T) { needed.Disk(t, "size=3m", func(dir string) { wantRecovery(t, dir) }) })
}

func gentle(t *testing.T, l *mpi.Library, dir string) Options {
	program := build(t, l, "gentle.c", "-O1", "-pthread", "-lrt")
	o := sampled(append(mpitest.Launch(l, 1), program, "many")...)
	o.Out = filepath.Join(dir, "run.slt")
	return o
}

func wantNoFirstBuffer(t *testing.T, dir string) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		r, err := tryRecord(t, gentle(t, l, dir))
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "rank 0 cannot write to "+dir) ||
			strings.Contains(err.Error(), "MPI_Init") {
			t.Errorf("no room for the first buffer: %v, want what happened, where, and a way out", err)
		}
		wantDone(t, r)
	})
}

func wantRecovery(t *testing.T, dir string) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		o := gentle(t, l, dir)
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
