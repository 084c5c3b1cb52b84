package mpi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"slackline/internal/atomicfile"
	"slackline/internal/trusted"
)

//go:embed bridge/*.c bridge/*.h
var bridgeFiles embed.FS

// bridgeFlags are further flags for compiling the bridge, for tests.
var bridgeFlags []string

// ByBridge lets processes of one host use the bridge, as those of several hosts do, for tests.
var ByBridge bool

// bridgeSource is the bridge between slackline and MPI.
func bridgeSource() Source {
	s := Source{Name: "bridge", Flags: bridgeFlags, Program: true}
	if err := s.Add(bridgeFiles, "bridge"); err != nil {
		panic(err) // it is built in
	}
	return s
}

// bridge returns the path of the bridge for the library that a user names, or else for the launcher. It is kept where
// compiled parts are kept, or, if nothing can be written there, in a directory of the node.
func (s Start) bridge(ctx context.Context, wanted string) (string, error) {
	dir := cacheDir()
	path, err := s.bridgeIn(ctx, dir, wanted)
	if err == nil || errors.Is(err, trusted.ErrUntrusted) || writable(dir) == nil {
		return path, err
	}
	own := ownDir()
	if errOwn := writable(own); errOwn != nil {
		return "", fmt.Errorf("the bridge to MPI can be kept nowhere: %w; %w; let XDG_CACHE_HOME name a directory", writable(dir), errOwn)
	}
	return s.bridgeIn(ctx, own, wanted)
}

// writable returns the reason why nothing can be written to a directory, or must not be.
func writable(dir string) error {
	if err := trustedPart(trusted.Dir, dir); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, "probe-")
	if err != nil {
		return err
	}
	_, err = probe.Write(make([]byte, 64<<10)) // less than any part has
	return cmp.Or(err, probe.Close(), os.Remove(probe.Name()))
}

// bridgeIn is bridge for a directory. Asking compilers what they are takes longer than all the rest, so the answer is
// kept as long as the compilers stay the same.
func (s Start) bridgeIn(ctx context.Context, dir, wanted string) (path string, err error) {
	note := filepath.Join(dir, s.note(wanted, compilersIn))
	if path, err = noted(note); path != "" || err != nil {
		return path, err
	}
	if err := writable(dir); err != nil {
		return "", err
	}
	err = doOnce(ctx, note+".lock", func() error {
		if path, err = noted(note); path != "" || err != nil {
			return err
		}
		path, err = s.makeBridge(ctx, dir, wanted)
		if err != nil {
			return err
		}
		for _, note := range []string{note, filepath.Join(dir, s.note(wanted, nil))} {
			if err := os.WriteFile(note, nil, 0o600); err != nil { // its mode stays, whatever the umask
				return err
			}
			write := func(w io.Writer) error { _, err := io.WriteString(w, path+"\n"); return err }
			if err := atomicfile.Write(note, write); err != nil {
				return err
			}
		}
		return nil
	})
	return path, err
}

// makeBridge compiles the bridge.
func (s Start) makeBridge(ctx context.Context, dir, wanted string) (string, error) {
	list, err := Find(ctx)
	if err != nil {
		return "", err
	}
	library, err := s.library(list, wanted)
	if err != nil {
		return "", err
	}
	path, _, err := library.compileIn(ctx, dir, bridgeSource())
	return path, err
}

// library chooses the library of a job.
func (s Start) library(list []*Library, wanted string) (*Library, error) {
	if wanted != "" {
		return Named(list, wanted)
	}
	for _, l := range list {
		if l.Kind == s.Kind {
			return l, nil
		}
	}
	if s.Any {
		return list[0], nil
	}
	return nil, fmt.Errorf("it belongs to %s, but the MPI compilers found are those of %s; put the mpicc of %s into PATH (module load ...)",
		s.Kind, names(list), s.Kind)
}

// note names the file that keeps which bridge is the right one: by the source, what is wanted, and the compilers that
// are there. Without any, as on many compute nodes, the bridge is the one that was last made for the same wish.
func (s Start) note(wanted string, compilers func(io.Writer)) string {
	h := sha256.New()
	source := bridgeSource()
	fmt.Fprintf(h, "%q %q %v %q %s\n", wanted, s.Kind, s.Any, source.Flags, runtime.GOARCH)
	for _, name := range slices.Sorted(maps.Keys(source.Files)) {
		fmt.Fprintf(h, "%s %d\n%s", name, len(source.Files[name]), source.Files[name])
	}
	if compilers != nil {
		compilers(h)
	}
	const enough = 12
	return "bridge-" + hex.EncodeToString(h.Sum(nil)[:enough])
}

// compilersIn lists the compilers in PATH.
func compilersIn(w io.Writer) {
	for _, name := range compilerNames {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if info, err := os.Stat(resolved(path)); err == nil {
			fmt.Fprintf(w, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
	}
}

// noted reads the path of a program that is there; empty: there is none.
func noted(file string) (string, error) {
	if err := trustedPart(trusted.File, file); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	data, err := os.ReadFile(file)
	path := strings.TrimSpace(string(data))
	if err != nil || !isExecutable(path) {
		return "", nil
	}
	return path, trustedPart(trusted.File, path)
}
