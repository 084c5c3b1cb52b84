package mpi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Become replaces this process by the bridge, which starts the same program again as a part of the job. It returns only
// if that fails. The name of a library goes before that of the launcher. Program identifies this program: all
// processes of a job must be the same, which is found out before they exchange anything else.
func (s Start) Become(ctx context.Context, wanted, program string, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path, err := s.bridge(ctx, wanted)
	if err != nil {
		return err
	}
	words := append([]string{path, s.Launcher, fmt.Sprint(s.Rank), fmt.Sprint(s.Size), program, self, os.Args[0]}, args...)
	err = unix.Exec(path, words, os.Environ())
	if errors.Is(err, syscall.EACCES) {
		return fmt.Errorf("%s must not be run there: %w; let XDG_CACHE_HOME name a directory for programs", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// noExec reports whether the file system of a path is mounted such that nothing in it can be run.
func noExec(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(path, &s) == nil && s.Flags&unix.MS_NOEXEC != 0
}

// patience is how long a process waits for another one that compiles: far longer than that takes.
const patience = time.Minute

// doOnce does what several processes of a node are to do once, one after the other. Those that had to wait for another
// one get its error. Where files cannot be locked all of them do it: with the same result.
func doOnce(ctx context.Context, path string, do func() error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return do()
	}
	defer f.Close() // and so unlock it
	waited, err := lock(ctx, f)
	if err != nil {
		return err
	}
	if waited {
		if text, err := io.ReadAll(f); err == nil && len(text) > 0 {
			return errors.New(string(text))
		}
	}
	empty := f.Truncate(0) == nil
	err = do()
	if err != nil && ctx.Err() == nil && empty {
		_, _ = f.WriteAt([]byte(err.Error()), 0) // without it the next one finds out by itself
	}
	return err
}

// lock waits until no other process of this node holds the lock, and reports whether it had to. After a long time it
// does without.
func lock(ctx context.Context, f *os.File) (waited bool, err error) {
	const pause = 20 * time.Millisecond
	for start := time.Now(); time.Since(start) < patience; waited = true {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
			return waited, nil // it is ours, or such files cannot be locked
		}
		select {
		case <-ctx.Done():
			return waited, ctx.Err()
		case <-time.After(pause):
		}
	}
	return false, nil
}
