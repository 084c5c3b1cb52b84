package source

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("content"), 0o666); err != nil {
		t.Fatal(err)
	}
	if data, err := Disk(path, 4); string(data) != "cont" || err != nil {
		t.Errorf("Disk(4) = %q, %v", data, err)
	}
	if data, err := Disk(path, All); string(data) != "content" || err != nil {
		t.Errorf("Disk(All) = %q, %v", data, err)
	}
	if _, err := Disk(filepath.Join(dir, "b"), All); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if data, err := Disk("/dev/zero", All); err == nil {
		t.Errorf("a device without an end: %d bytes and no error", len(data))
	}
	if _, err := Disk(dir, All); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
}

// What one has read others can read, and nothing else.
func TestBundle(t *testing.T) {
	dir := t.TempDir()
	long := bytes.Repeat([]byte("0123456789"), 100_000)
	for name, data := range map[string][]byte{"long": long, "empty": nil, "other": []byte("x")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var p Bundle
	read := p.Record(Disk)
	for _, ask := range []struct {
		name string
		most int64
	}{{"long", 10}, {"long", All}, {"long", 5}, {"empty", All}, {"missing", All}} {
		_, _ = read(filepath.Join(dir, ask.name), ask.most)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	sent := b.Bytes()
	got, err := ReadBundle(&b)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := got.Read(filepath.Join(dir, "long"), All); err != nil || !bytes.Equal(data, long) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if data, err := got.Read(filepath.Join(dir, "long"), 3); err != nil || string(data) != "012" {
		t.Errorf("%q, %v", data, err)
	}
	if data, err := got.Read(filepath.Join(dir, "empty"), All); err != nil || len(data) != 0 {
		t.Errorf("%q, %v", data, err)
	}
	for _, name := range []string{"missing", "other"} {
		if _, err := got.Read(filepath.Join(dir, name), All); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, cut := range []int{0, 1, 10, len(sent) / 2, len(sent) - 1} {
		if _, err := ReadBundle(bytes.NewReader(sent[:cut])); err == nil {
			t.Errorf("cut at %d: no error", cut)
		}
	}
}

// A named pipe without a writer is given up and has no reader then; with one it is read.
func TestOpenNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	defer func(d time.Duration) { patience = d }(patience)
	patience = time.Millisecond
	if _, err := Disk(path, All); !errors.Is(err, ErrNoWriter) {
		t.Errorf("no writer: %v, want %v", err, ErrNoWriter)
	}
	if f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); !errors.Is(err, syscall.ENXIO) {
		t.Fatalf("after it was given up: %v, %v, want no reader", f, err)
	}
	patience = time.Hour
	wrote := make(chan error, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString("content")
			err = errors.Join(err, f.Close())
		}
		wrote <- err
	}()
	data, err := Disk(path, All)
	if err := errors.Join(err, <-wrote); string(data) != "content" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

// What the program keeps is a file; a pipe of its name is refused at once.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKept(path); !errors.Is(err, ErrNotAFile) {
		t.Errorf("a pipe: %v, want %v", err, ErrNotAFile)
	}
	if _, err := ReadKept(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// endless gives bytes without an end and counts them.
type endless int64

func (e *endless) Read(p []byte) (int, error) {
	*e += endless(len(p))
	return len(p), nil
}

// What may have no end is read as far as MaxStream, in about as much memory; a file as far as is said, and not at all if it is larger.
func TestWhole(t *testing.T) {
	var e endless
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Whole("pipe", &e, &e, 4*MaxStream)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.HasPrefix(err.Error(), "pipe: has more than 256 MiB") || !strings.HasSuffix(err.Error(), "have 1024 MiB") {
		t.Errorf("an input without an end: %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; e > MaxStream+streamPiece || took > MaxStream*5/4 {
		t.Errorf("an input without an end: %d bytes were read in %d bytes of memory", e, took)
	}
	if data, err := Whole("short", strings.NewReader("ab"), strings.NewReader("ab"), 2); string(data) != "ab" || err != nil {
		t.Errorf("a short stream: %q, %v", data, err)
	}
	path := filepath.Join(t.TempDir(), "sparse")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e = 0
	if _, err := Whole("sparse", f, &e, 4*MaxStream); err == nil || e > 0 {
		t.Errorf("a file of 1 TiB: %v, %d bytes were read", err, e)
	}
	if err := os.Truncate(path, 2*MaxStream); err != nil {
		t.Fatal(err)
	}
	if data, err := Whole("sparse", f, f, 4*MaxStream); len(data) != 2*MaxStream || err != nil {
		t.Errorf("a file that is longer than MaxStream: %d bytes, %v", len(data), err)
	}
	if data, err := Disk("/dev/zero", 2*MaxStream); err == nil || !strings.Contains(err.Error(), "pipes and devices") {
		t.Errorf("a device without an end: %d bytes, %v", len(data), err)
	}
}
