package damage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
)

// Watched is a file system that keeps what its files could not give: an error of the disk, of the network behind it or of the limits of
// the process is not damage, although readers that go on as far as they can take it for the end of a file.
type Watched struct {
	fs.FS
	show func(name string) string // what messages call a file
	mu   sync.Mutex
	err  error
}

// Watch watches a file system.
func Watch(fsys fs.FS, show func(name string) string) *Watched { return &Watched{FS: fsys, show: show} }

// Failure is the first failure that was kept; nil: there is none.
func (w *Watched) Failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Forget returns the failure and forgets it: it has been dealt with.
func (w *Watched) Forget() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.err
	w.err = nil
	return err
}

// keep notes a failure to read a file. That there is no such file is an answer.
func (w *Watched) keep(name string, err error) {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = fmt.Errorf("%s: reading it failed: %w", w.show(name), Reason(err))
	}
}

// Open implements fs.FS.
func (w *Watched) Open(name string) (fs.File, error) {
	file, err := w.FS.Open(name)
	if err != nil {
		w.keep(name, err)
		return nil, err
	}
	f := watchedFile{file, w, name}
	if at, ok := file.(io.ReaderAt); ok {
		return watchedAt{f, at}, nil
	}
	return f, nil
}

// Stat implements fs.StatFS.
func (w *Watched) Stat(name string) (fs.FileInfo, error) { return fs.Stat(w.FS, name) }

// ReadDir implements fs.ReadDirFS.
func (w *Watched) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(w.FS, name) }

// Lstat and ReadLink implement fs.ReadLinkFS.
func (w *Watched) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(w.FS, name) }
func (w *Watched) ReadLink(name string) (string, error)   { return fs.ReadLink(w.FS, name) }

// watchedFile is a file whose failures are kept.
type watchedFile struct {
	fs.File
	from *Watched
	name string
}

func (f watchedFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.from.keep(f.name, err)
	return n, err
}

// watchedAt is one that can be read at any place.
type watchedAt struct {
	watchedFile
	at io.ReaderAt
}

func (f watchedAt) ReadAt(b []byte, offset int64) (int, error) {
	n, err := f.at.ReadAt(b, offset)
	f.from.keep(f.name, err)
	return n, err
}
