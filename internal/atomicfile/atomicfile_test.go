package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// onlyFile fails unless the directory of path holds path and nothing else.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Name() != filepath.Base(path) {
		t.Errorf("directory = %v, want only %s", list, filepath.Base(path))
	}
}

func TestWriteReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	for _, s := range []string{"first", "second, longer", ""} {
		if err := Write(path, text(s)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != s {
			t.Errorf("content = %q, want %q", got, s)
		}
	}
	onlyFile(t, path)
}

func TestFailureKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	fault := errors.New("fault")
	err := Write(path, func(w io.Writer) error {
		fmt.Fprint(w, "half")
		return fault
	})
	if !errors.Is(err, fault) {
		t.Errorf("Write = %v, want %v", err, fault)
	}
	if got := read(t, path); got != "old" {
		t.Errorf("content = %q, want the old one", got)
	}
	onlyFile(t, path)
}

func TestKeepsModeAndLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, text("x")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode = %o, want 600", got)
	}
	if got := read(t, path); got != "x" {
		t.Errorf("content = %q, want x", got)
	}
	if l, err := os.Readlink(link); err != nil || l != path {
		t.Errorf("link = %q, %v; want it to stay", l, err)
	}
}

func TestDeviceAndDirectory(t *testing.T) {
	if err := Write(os.DevNull, text("x")); err != nil {
		t.Errorf("Write(%s) = %v", os.DevNull, err)
	}
	if err := Write(t.TempDir(), text("x")); err == nil {
		t.Error("Write to a directory succeeded")
	}
	missing := filepath.Join(t.TempDir(), "no", "a")
	var pe *os.PathError
	if err := Write(missing, text("x")); !errors.As(err, &pe) || pe.Path != missing {
		t.Errorf("Write(%s) = %v, want an error that names it", missing, err)
	}
}

func TestWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := Write(path, text(fmt.Sprintf("writer %d", i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var i int
	if n, _ := fmt.Sscanf(read(t, path), "writer %d", &i); n != 1 {
		t.Errorf("content = %q, want that of one writer", read(t, path))
	}
	onlyFile(t, path)
}

func TestCheckNotInput(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, p := range []string{a, b} {
		if err := os.WriteFile(p, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(a, link); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		out    string
		inputs []string
		same   bool
	}{
		{a, []string{b, "-"}, false},
		{a, []string{b, a}, true},
		{link, []string{a}, true},
		{a, []string{link}, true},
		{filepath.Join(dir, "new"), []string{a}, false},
		{os.DevNull, []string{os.DevNull}, false},
	} {
		if err := CheckNotInput(tc.out, tc.inputs...); errors.Is(err, ErrIsInput) != tc.same {
			t.Errorf("CheckNotInput(%s, %v) = %v, want same: %v", tc.out, tc.inputs, err, tc.same)
		}
	}
}

// Temporary names mean nothing to the user: errors name what was to be written.
func TestErrorsNameTheTarget(t *testing.T) {
	dir := t.TempDir()
	full := func(pattern string) error { // as a full disk has it: the error names the open file
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		return &fs.PathError{Op: "write", Path: names[0], Err: syscall.ENOSPC}
	}
	file := filepath.Join(dir, "out.svg")
	err := Write(file, func(io.Writer) error { return full(".out.svg.tmp*") })
	if want := "write " + file + ": no space left on device"; err == nil || err.Error() != want {
		t.Errorf("a file: %v, want %s", err, want)
	}
	trace := filepath.Join(dir, "run.slt")
	err = WriteDir(trace, nil, func(d *Dir) error {
		if _, err := d.Create("ranks/0.slt"); err != nil {
			return err
		}
		return full(".run.slt.tmp*/new/run.slt/ranks/0.slt")
	})
	if want := "write " + filepath.Join(trace, "ranks/0.slt") + ": no space left on device"; err == nil || err.Error() != want {
		t.Errorf("a directory: %v, want %s", err, want)
	}
	err = WriteDir(trace, nil, func(d *Dir) error {
		if _, err := d.Create("calls.parquet"); err != nil {
			return err
		}
		return fmt.Errorf("column 7: %w", full(".run.slt.tmp*/new/run.slt/calls.parquet"))
	})
	want := "column 7: write " + filepath.Join(trace, "calls.parquet") + ": no space left on device"
	if err == nil || err.Error() != want || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("within another error: %v, want %s", err, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestAbandon wants nothing to be left of what was being written, and what was there before as it was.
func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
	if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Write(file, func(w io.Writer) error {
		return WriteDir(folder, nil, func(d *Dir) error {
			f, err := d.Create("part")
			if err != nil {
				return err
			}
			defer f.Close()
			Abandon()
			entries, err := os.ReadDir(dir)
			if err == nil && (len(entries) != 1 || entries[0].Name() != "file") {
				t.Errorf("%v are left", entries)
			}
			return err
		})
	})
	if data, readErr := os.ReadFile(file); err == nil || readErr != nil || string(data) != "before" {
		t.Errorf("Write = %v, the file holds %q (%v), want an error and what was there before", err, data, readErr)
	}
}

// TestLongName wants a name that is as long as the system allows, also one whose letters have several bytes.
func TestLongName(t *testing.T) {
	for _, name := range []string{strings.Repeat("n", 255), "n" + strings.Repeat("ä", 127)} {
		path := filepath.Join(t.TempDir(), name)
		if err := Write(path, text("new")); err != nil || read(t, path) != "new" {
			t.Errorf("%d bytes: %v", len(name), err)
		}
		onlyFile(t, path)
	}
}
