package input

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"slackline/internal/source"
)

// A named pipe among the files of a directory is refused: reading it would wait for a writer.
func TestDirWithPipe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dumps")
	if err := errors.Join(os.Mkdir(dir, 0o777), syscall.Mkfifo(filepath.Join(dir, "nccl_trace_rank_0"), 0o666)); err != nil {
		t.Fatal(err)
	}
	if IsTrace(dir) {
		t.Error("a directory with nothing but a named pipe is a trace")
	}
	if _, err := fs.ReadFile(Dir(dir), "missing"); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "missing")) {
		t.Errorf("a missing file: %v, want its whole path", err)
	}
	if _, err := fs.ReadDir(Dir(filepath.Join(dir, "none")), "."); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "none")) {
		t.Errorf("a missing directory: %v, want its whole path", err)
	}
	if _, err := Dir(dir).Open("nccl_trace_rank_0"); !errors.Is(err, source.ErrNotAFile) {
		t.Errorf("opening the pipe: %v, want %v", err, source.ErrNotAFile)
	}
	if _, err := OpenDumps(t.Context(), dir); err != nil {
		t.Errorf("dumps of a directory without one: %v", err)
	}
}

// TestDirWithAnyName: names of files need not be UTF-8, and none leads out of the directory.
func TestDirWithAnyName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a\xffb")
	if err := os.MkdirAll(filepath.Join(dir, "p\xff8"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p\xff8", "ranks\xfe.csv"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	entries, err := fs.ReadDir(Dir(dir), "p\xff8")
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v, want 1", len(entries), err)
	}
	if _, err := fs.Stat(Dir(dir), "p\xff8/"+entries[0].Name()); err != nil {
		t.Error(err)
	}
	if data, err := fs.ReadFile(Dir(dir), "p\xff8/"+entries[0].Name()); err != nil || string(data) != "x" {
		t.Errorf("%q, %v, want x", data, err)
	}
	for _, name := range []string{"..", "p\xff8/../../c", "/etc/passwd", ""} {
		if _, err := Dir(dir).Open(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("open %q: %v, want an error that says it is invalid", name, err)
		}
	}
}
