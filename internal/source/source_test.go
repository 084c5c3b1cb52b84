package source

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
