package trace

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
)

// TestFormats walks the table: each entry can be listed, recognized, and read or written.
func TestFormats(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats() {
		if f.Name == "" || f.Noun == "" || f.Info == "" || (f.Sniff == nil) != (f.read == nil) || f.Writable() && len(f.Suffixes) == 0 {
			t.Errorf("%s: the entry is not complete: %+v", f.Name, f)
		}
		for _, key := range slices.Compact(append([]string{f.Name}, f.Suffixes...)) {
			if seen[key] {
				t.Errorf("%s: %q is in the table twice", f.Name, key)
			}
			seen[key] = true
		}
		if got, err := FormatNamed(f.Name); err != nil || got.Name != f.Name {
			t.Errorf("FormatNamed(%s) = %s, %v", f.Name, got.Name, err)
		}
		_, err := Open(fstest.MapFS{"x": {Data: []byte("nothing")}}, "x", Options{})
		if f.read != nil && (err == nil || !strings.Contains(err.Error(), f.Noun)) {
			t.Errorf("the error of a file of no format is %v, want it to name %s", err, f.Noun)
		}
	}
	if _, err := FormatNamed("nothing"); err == nil || !strings.Contains(err.Error(), strings.Join(formatNames(), ", ")) {
		t.Errorf("FormatNamed(nothing) = %v, want the list of formats", err)
	}
}

// TestFormatsRoundTrip writes a trace in each format that is also read, and finds it again by its content.
func TestFormatsRoundTrip(t *testing.T) {
	text := "slackline trace 1\nrank 0\n0..4 MPI_Send: send to 1\nrank 1\n0..5 MPI_Recv: recv from 0\n"
	in, err := Open(fstest.MapFS{"x.trace": {Data: []byte(text)}}, "x.trace", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats() {
		if !f.Writable() || f.read == nil {
			continue
		}
		dir := t.TempDir()
		name := "x" + f.Suffixes[0]
		if _, err := Write(filepath.Join(dir, name), in, f.Name, WriteOptions{}); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		found, main, ok, err := Find(os.DirFS(dir), name)
		if err != nil || !ok || found.Name != f.Name {
			t.Errorf("%s: found as %q at %s, %v", f.Name, found.Name, main, err)
			continue
		}
		again, err := Open(os.DirFS(dir), name, Options{})
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if again.Format != f.Name || again.Ranks != in.Ranks {
			t.Errorf("%s: read as %s with %d ranks, want %d", f.Name, again.Format, again.Ranks, in.Ranks)
		}
		again.release()
	}
	var b bytes.Buffer
	if _, err := perfettoFormat.Stream(&b, in, WriteOptions{}); err != nil || b.Len() == 0 {
		t.Errorf("perfetto: %d bytes, %v", b.Len(), err)
	}
}

// sickFS is a file system of which one call fails: the opening or a read of a file.
type sickFS struct {
	fs.FS
	calls atomic.Int64 // so far
	fails int64        // which does
}

var errSick = syscall.EIO

func (s *sickFS) sick() error {
	if s.calls.Add(1) == s.fails {
		return &fs.PathError{Op: "read", Path: "x", Err: errSick}
	}
	return nil
}

func (s *sickFS) Open(name string) (fs.File, error) {
	if err := s.sick(); err != nil {
		return nil, err
	}
	f, err := s.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return sickFile{f, s}, nil
}

func (s *sickFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(s.FS, name) }
func (s *sickFS) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(s.FS, name) }

type sickFile struct {
	fs.File
	in *sickFS
}

func (f sickFile) Read(b []byte) (int, error) {
	if err := f.in.sick(); err != nil {
		return 0, err
	}
	return f.File.Read(b)
}

func (f sickFile) ReadAt(b []byte, offset int64) (int, error) {
	if err := f.in.sick(); err != nil {
		return 0, err
	}
	return f.File.(io.ReaderAt).ReadAt(b, offset)
}

// TestDiskErrors lets each read of a trace fail once, as a bad disk or a lost file server does: that is an error, not a damaged trace of
// which the rest is enough, whatever is done with it.
func TestDiskErrors(t *testing.T) {
	for _, f := range Formats() {
		if !f.Writable() || f.read == nil {
			continue
		}
		dir, name := t.TempDir(), "x"+f.Suffixes[0]
		in := randomTrace(7, 3, 1, 300)
		if _, err := Write(filepath.Join(dir, name), in, f.Name, WriteOptions{}); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		uses := map[string]func(*Trace) error{
			"timeline": func(tr *Trace) error { _, err := ToTimeline(tr, TimelineOptions{Threads: 1}); return err },
			"write":    func(tr *Trace) error { _, err := textFormat.WriteTo(io.Discard, tr, WriteOptions{}); return err },
		}
		for use, do := range uses {
			for n := int64(1); ; n++ {
				disk := &sickFS{FS: os.DirFS(dir), fails: n}
				tr, err := Open(disk, name, Options{})
				if err == nil {
					err = do(tr)
					tr.release()
				}
				if disk.calls.Load() < n {
					if err != nil {
						t.Errorf("%s, %s: without a failure: %v", f.Name, use, err)
					}
					t.Logf("%s, %s: %d calls", f.Name, use, n-1)
					break
				}
				if err == nil || !strings.Contains(err.Error(), errSick.Error()) {
					t.Errorf("%s, %s: call %d of the disk fails: error %v, want %v", f.Name, use, n, err, errSick)
				}
			}
		}
	}
}
