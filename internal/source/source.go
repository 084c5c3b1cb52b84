// Package source is where readers of small files get their content: from the
// disk of this process, or from what another process of a job has read, so that
// a file is read once for all of them.
//
// It knows paths and bytes, and nothing of what is in a file.
package source

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"syscall"
)

// Source returns the first bytes of a file, at most so many. Whoever refuses
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

// Parcel is what somebody has read, for others who read the same.
type Parcel struct{ files map[string]parcelFile }

// parcelFile is the outcome of reading a file.
type parcelFile struct {
	data   []byte
	failed bool
}

// Record returns a source that reads from another one and keeps the outcome. It
// is for one goroutine.
func (p *Parcel) Record(from Source) Source {
	return func(path string, most int64) ([]byte, error) {
		data, err := from(path, most)
		if p.files == nil {
			p.files = map[string]parcelFile{}
		}
		if known := p.files[path]; err != nil || len(data) >= len(known.data) {
			p.files[path] = parcelFile{data, err != nil}
		}
		return data, err
	}
}

// Read is the Source of what the parcel holds. A file that could not be read, or
// that nobody has asked for, does not exist.
func (p *Parcel) Read(path string, most int64) ([]byte, error) {
	f, known := p.files[path]
	if !known || f.failed {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return f.data[:min(int64(len(f.data)), most)], nil
}

// Write writes the parcel for ReadParcel.
func (p *Parcel) Write(w io.Writer) error {
	var paths []string
	for path, f := range p.files {
		if !f.failed {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	head := binary.AppendUvarint(nil, uint64(len(paths)))
	for _, path := range paths {
		head = binary.AppendUvarint(head, uint64(len(path)))
		head = append(head, path...)
		head = binary.AppendUvarint(head, uint64(len(p.files[path].data)))
		if _, err := w.Write(head); err != nil {
			return err
		}
		if _, err := w.Write(p.files[path].data); err != nil {
			return err
		}
		head = head[:0]
	}
	_, err := w.Write(head)
	return err
}

// ReadParcel reads what Write wrote.
func ReadParcel(r io.Reader) (*Parcel, error) {
	in := bufio.NewReader(r)
	p := &Parcel{files: map[string]parcelFile{}}
	n, err := binary.ReadUvarint(in)
	for ; n > 0 && err == nil; n-- {
		var path, data []byte
		if path, err = readString(in); err == nil {
			data, err = readString(in)
		}
		p.files[string(path)] = parcelFile{data: data}
	}
	if err != nil {
		return nil, fmt.Errorf("what another process has read does not arrive: %w", err)
	}
	return p, nil
}

// readString reads bytes behind their number; memory is taken as they come.
func readString(in *bufio.Reader) ([]byte, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(in, int64(min(n, math.MaxInt64))))
	if err == nil && uint64(len(data)) < n {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}
