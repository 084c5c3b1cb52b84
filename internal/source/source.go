// Package source is where readers of small files get their content: from the
// disk of this process, or from what another process of a job has read, so that
// a file is read once for all of them.
//
// It knows paths and bytes, and nothing about what is in a file.
package source

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"slackline/internal/fault"
)

// Source returns the first bytes of a file, at most so many. A reader that refuses
// long files asks for one byte more than it takes.
type Source func(path string, most int64) ([]byte, error)

// All is the number of bytes to ask for by those who take any file that people or programs write in one piece. Disk refuses longer
// ones, such as devices without an end.
const All = 64 << 20

// MaxStream is the number of bytes that are read of pipes and devices, which may have no end, and streamPiece what is read of
// them at a time.
const (
	MaxStream   = 256 << 20
	streamPiece = 4 << 20
)

// ErrNotAFile is the error of a pipe, a socket or a device where only a file can be.
var ErrNotAFile = errors.New("is neither a file nor a directory")

// ErrNoWriter is the error of a named pipe that is waited for in vain.
var ErrNoWriter = errors.New("is a named pipe to which nothing writes; start its writer first, or give a file")

// patience is how long Open waits for the writer of a named pipe.
var patience = 5 * time.Second

// Open opens a file that a user names. Pipes are read as they come, but a named one needs a writer: to open it would wait for ever.
func Open(path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		return os.Open(path)
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	fault.Go(func() {
		f, err := os.Open(path)
		done <- opened{f, err}
	})
	select {
	case o := <-done:
		return o.f, o.err
	case <-time.After(patience):
		// With a writer the opening ends, and no reader is left to take what is written later.
		if both, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			if o := <-done; o.err == nil {
				o.f.Close()
			}
			both.Close()
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNoWriter}
	}
}

// Kept opens a file that only this program, or one that it runs, has written. Anything else of its name is refused.
func Kept(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotAFile}
	}
	return os.Open(path)
}

// ReadKept reads a file as Kept opens it.
func ReadKept(path string) ([]byte, error) {
	f, err := Kept(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Disk reads files of this machine. Of a directory the error is syscall.EISDIR.
func Disk(path string, most int64) ([]byte, error) {
	f, err := Open(path)
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
	size, regular := Size(f)
	if !regular && most > MaxStream {
		return Whole(path, f, f, most)
	}
	all, _, err := pieces(f, min(size, most), most)
	data := join(all)
	if err == nil && most == All && len(data) == All {
		err = fmt.Errorf("%s: has %d MiB or more; give a smaller file", path, All>>20)
	}
	return data, err
}

// Whole reads all that r gives of a file. What is not regular may have no end: no more than MaxStream bytes are taken. The name is for
// messages.
func Whole(name string, file, r io.Reader, most int64) ([]byte, error) {
	size, regular := Size(file)
	way := "give less, or several files"
	if !regular && most > MaxStream {
		way = fmt.Sprintf("pipes and devices are read no further; write it to a file, which may have %d MiB", most>>20)
		most = MaxStream
	}
	data, fits, err := Fitting(r, size, most)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !fits {
		return nil, fmt.Errorf("%s: has more than %d MiB; %s", name, most>>20, way)
	}
	return data, nil
}

// Size is the size of a regular file.
func Size(file io.Reader) (size int64, regular bool) {
	if f, ok := file.(fs.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size(), true
		}
	}
	return 0, false
}

// Fitting reads r to its end, if that comes after most bytes at the latest. The size is what is expected, 0 if that is unknown.
func Fitting(r io.Reader, size, most int64) (data []byte, fits bool, err error) {
	if size > most {
		return nil, false, nil
	}
	p, total, err := pieces(r, size, most+1)
	if err != nil || total > most {
		return nil, false, err
	}
	return join(p), true, nil
}

// pieces reads r to its end, but no more than most bytes. It takes no more memory than what comes; a buffer that grows takes several times
// as much.
func pieces(r io.Reader, size, most int64) (all [][]byte, total int64, err error) {
	piece := make([]byte, min(size+1, most)) // a read beyond the size finds the end
	for {
		n, err := io.ReadFull(r, piece)
		total += int64(n)
		all = append(all, piece[:n])
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), err == nil && total == most:
			return all, total, nil
		case err != nil:
			return nil, total, err
		}
		piece = make([]byte, min(streamPiece, most-total))
	}
}

func join(all [][]byte) []byte {
	if len(all) == 1 {
		return all[0]
	}
	return slices.Concat(all...)
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
