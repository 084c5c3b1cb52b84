package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/internal/needed"
	"slackline/internal/trusted"
)

// TestPlantedPartsAreRefused makes the folders and files that another user could make before this one does, without HOME
// and XDG_CACHE_HOME: what is in them must not be run.
func TestPlantedPartsAreRefused(t *testing.T) {
	needed.That(t, os.Getuid() == 0, "root, who can plant files of other users,")
	list, err := Find(context.Background())
	needed.NoError(t, err)
	library := list[0]
	part := Source{Name: "part", Files: map[string]string{"a.c": "int main(void) { return 0; }\n"}, Program: true}
	const stranger = 54321
	for _, tc := range []struct {
		name  string
		plant func(tmp, program string) error
	}{
		{"all of it", func(tmp, _ string) error {
			return filepath.Walk(filepath.Join(tmp, "slackline-0"), func(path string, _ os.FileInfo, err error) error {
				return errors.Join(err, os.Lchown(path, stranger, stranger))
			})
		}},
		{"the folder in the middle", func(tmp, _ string) error {
			return os.Chown(filepath.Join(tmp, "slackline-0", "slackline"), stranger, stranger)
		}},
		{"the program", func(_, program string) error { return os.Chown(program, stranger, stranger) }},
		{"the mode of the program", func(_, program string) error { return os.Chmod(program, 0o777) }},
		{"the mode of its folder", func(_, program string) error { return os.Chmod(filepath.Dir(program), 0o777) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			t.Setenv("HOME", "")
			t.Setenv("XDG_CACHE_HOME", "")
			program, _, err := library.Compile(context.Background(), part)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(program, filepath.Join(tmp, "slackline-0")) {
				t.Fatalf("the program is %s, want it below %s", program, tmp)
			}
			if err := tc.plant(tmp, program); err != nil {
				t.Fatal(err)
			}
			path, _, err := library.Compile(context.Background(), part)
			if !errors.Is(err, trusted.ErrUntrusted) || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
				t.Errorf("Compile = %q, %v, want it refused with a way out", path, err)
			}
		})
	}
}

// TestPlantedBridgeIsRefused plants the note that names the bridge, and a program for it to name.
func TestPlantedBridgeIsRefused(t *testing.T) {
	needed.That(t, os.Getuid() == 0, "root, who can plant files of other users,")
	const stranger = 54321
	for _, what := range []string{"note", "program", "folder"} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			var s Start
			dir := cacheDir()
			if err := writable(dir); err != nil {
				t.Fatal(err)
			}
			note, program := filepath.Join(dir, s.note("", compilersIn)), filepath.Join(dir, "program")
			if err := errors.Join(os.WriteFile(program, nil, 0o755), os.WriteFile(note, []byte(program+"\n"), 0o644)); err != nil {
				t.Fatal(err)
			}
			if path, err := s.bridge(context.Background(), ""); err != nil || path != program {
				t.Fatalf("bridge = %q, %v, want the one that is noted", path, err)
			}
			if err := os.Chown(map[string]string{"note": note, "program": program, "folder": dir}[what], stranger, stranger); err != nil {
				t.Fatal(err)
			}
			if path, err := s.bridge(context.Background(), ""); !errors.Is(err, trusted.ErrUntrusted) {
				t.Errorf("bridge = %q, %v, want it refused", path, err)
			}
		})
	}
}

// bridgeFor is the bridge for a launcher of a kind.
func bridgeFor(kind Kind, wanted string) (string, error) {
	s := Start{Kind: kind}
	return s.bridge(context.Background(), wanted)
}

// TestFreeUmask wants what is made for this user alone to be so, and not to be refused the next time, whatever the umask.
func TestFreeUmask(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "new")
	t.Setenv("XDG_CACHE_HOME", cache)
	defer syscall.Umask(syscall.Umask(0))
	list, err := Find(t.Context())
	needed.NoError(t, err)
	part := Source{Name: "part", Files: map[string]string{"a.c": "int main(void) { return 0; }\n"}, Program: true}
	for _, what := range []string{"made", "found"} {
		if _, fresh, err := list[0].Compile(t.Context(), part); err != nil || fresh != (what == "made") {
			t.Errorf("%s: fresh = %v, %v", what, fresh, err)
		}
		if _, err := bridgeFor(list[0].Kind, ""); err != nil {
			t.Errorf("the bridge, %s: %v", what, err)
		}
	}
	if info, err := os.Stat(cache); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder that was missing: %v, %v, want it for its owner alone", info.Mode(), err)
	}
}

// TestPathsOfLibraries wants no library where LD_PRELOAD would take its path for several.
func TestPathsOfLibraries(t *testing.T) {
	list, err := Find(t.Context())
	needed.NoError(t, err)
	for _, name := range []string{"with blank", "with:colon"} {
		t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), name))
		for _, program := range []bool{false, true} {
			part := Source{Name: "part", Files: map[string]string{"a.c": "int main(void) { return 0; }\n"}, Program: program}
			_, _, err := list[0].Compile(t.Context(), part)
			if refused := err != nil && strings.Contains(err.Error(), "let XDG_CACHE_HOME name"); refused == program || program && err != nil {
				t.Errorf("%s, a program: %v: %v", name, program, err)
			}
		}
	}
}

// TestInterruptedCompiler wants no interrupt to reach the compiler but through the context, and that to end it with all that it
// started, without temporary files: the call returns.
func TestInterruptedCompiler(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	dir := t.TempDir()
	compiler, started := filepath.Join(dir, "mpicc.test"), filepath.Join(dir, "started")
	const script = "#!/bin/sh\ntrap 'rm temporary; exit 1' TERM\necho >temporary\n" +
		"sleep 100000 & echo $$ $(cut -d ' ' -f 5 /proc/$$/stat) >now\nmv now started\nwait\n"
	if err := os.WriteFile(compiler, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	go func() {
		for _, err := os.Stat(started); err != nil && t.Context().Err() == nil; _, err = os.Stat(started) {
			time.Sleep(time.Millisecond)
		}
		interrupt()
	}()
	if err := (&Library{Compiler: compiler}).compiler(ctx, "part", dir, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the compiler: %v, want context.Canceled", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "temporary")); err == nil {
		t.Error("the compiler could not remove its temporary file")
	}
	data, err := os.ReadFile(started)
	var process, group int
	if _, scan := fmt.Sscan(string(data), &process, &group); err != nil || scan != nil || group != process {
		t.Errorf("process %d is in group %d, want its own: %v, %v", process, group, err, scan)
	}
}
