package mpi

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"slackline/internal/atomicfile"
)

//go:embed bridge/*.c bridge/*.h
var bridgeFiles embed.FS

// bridgeFlags are further flags for compiling the bridge, for tests.
var bridgeFlags []string

// bridgeSource is the bridge between slackline and MPI.
func bridgeSource() Source {
	s := Source{Name: "bridge", Flags: bridgeFlags, Program: true}
	if err := s.Add(bridgeFiles, "bridge"); err != nil {
		panic(err) // it is built in
	}
	return s
}

// bridge returns the path of the bridge for the library that a user names, or else for one of a kind. Asking compilers
// what they are takes longer than all the rest, so the answer is kept as long as the compilers stay the same.
func bridge(ctx context.Context, wanted string, kind Kind) (string, error) {
	note := noteOf(wanted, kind, compilersIn)
	if path, ok := noted(note); ok {
		return path, nil
	}
	unlock := lock(note + ".lock") // one process of a node compiles, the others wait for it
	defer unlock()
	if path, ok := noted(note); ok {
		return path, nil
	}
	list, err := Find(ctx)
	if err != nil {
		return "", err
	}
	library, err := forJob(list, wanted, kind)
	if err != nil {
		return "", err
	}
	path, _, err := library.Compile(ctx, bridgeSource())
	if err != nil {
		return "", err
	}
	for _, note := range []string{note, noteOf(wanted, kind, nil)} {
		write := func(w io.Writer) error { _, err := io.WriteString(w, path+"\n"); return err }
		if err := atomicfile.Write(note, write); err != nil {
			return "", err
		}
	}
	return path, nil
}

// forJob chooses the library of a job.
func forJob(list []*Library, wanted string, kind Kind) (*Library, error) {
	if wanted != "" || kind == Unknown {
		return Named(list, wanted)
	}
	for _, l := range list {
		if l.Kind == kind {
			return l, nil
		}
	}
	return nil, fmt.Errorf("%s has started this job, but the MPI compilers found are those of %s; put its mpicc into PATH", kind, names(list))
}

// noteOf names the file that keeps which bridge is the right one: by the source, what is wanted, and the compilers that
// are there. Without any, as on many compute nodes, the bridge is the one that was last made for the same wish.
func noteOf(wanted string, kind Kind, compilers func(io.Writer)) string {
	h := sha256.New()
	s := bridgeSource()
	fmt.Fprintf(h, "%q %q %q\n", wanted, kind, s.Flags)
	for _, name := range sortedNames(s.Files) {
		fmt.Fprintf(h, "%s %d\n%s", name, len(s.Files[name]), s.Files[name])
	}
	if compilers != nil {
		compilers(h)
	}
	const enough = 12
	return filepath.Join(CacheDir(), "bridge-"+hex.EncodeToString(h.Sum(nil)[:enough]))
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

// noted reads the path of a program that is there.
func noted(file string) (string, bool) {
	data, err := os.ReadFile(file)
	path := strings.TrimSpace(string(data))
	if err != nil || !isExecutable(path) {
		return "", false
	}
	return path, true
}
