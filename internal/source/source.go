// Package source is where readers of small files get their content: from the
// disk of this process, or from what another process of a job has read, so that
// a file is read once for all of them.
//
// It knows paths and bytes, and nothing about what is in a file.
package source

import (
	"encoding/gob"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"
)

// Source returns the first bytes of a file, at most so many. A reader that refuses
// long files asks for one byte more than it takes.
type Source func(path string, most int64) ([]byte, error)

// All is the number of bytes to ask for by those who take any file.
const All = math.MaxInt64

// Disk reads files of this machine. Of a directory the error is syscall.EISDIR.
func Disk(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// Bundle is what one process has read, for others that read the same: files by path.
type Bundle struct{ files map[string][]byte }

// Record returns a source that reads from another one and keeps the outcome. It
// is for one goroutine.
func (b *Bundle) Record(from Source) Source {
	b.files = map[string][]byte{}
	return func(path string, most int64) ([]byte, error) {
		data, err := from(path, most)
		if err != nil {
			delete(b.files, path)
		} else if len(data) >= len(b.files[path]) {
			b.files[path] = data
		}
		return data, err
	}
}

// Read is the Source of what the bundle holds. A file that could not be read, or
// that was not asked for, does not exist.
func (b *Bundle) Read(path string, most int64) ([]byte, error) {
	data, known := b.files[path]
	if !known {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return data[:min(int64(len(data)), most)], nil
}

// Write writes the bundle for ReadBundle.
func (b *Bundle) Write(w io.Writer) error { return gob.NewEncoder(w).Encode(b.files) }

// ReadBundle reads what Write wrote.
func ReadBundle(r io.Reader) (*Bundle, error) {
	b := &Bundle{}
	if err := gob.NewDecoder(r).Decode(&b.files); err != nil {
		return nil, fmt.Errorf("the files that another process has read do not arrive: %w", err)
	}
	return b, nil
}
