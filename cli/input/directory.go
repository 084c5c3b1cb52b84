package input

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"slackline/internal/source"
)

// Dir is os.DirFS whose errors name the whole path, for names that need not be UTF-8, and without what is neither a file nor a directory:
// to open a named pipe that has the name of a file would wait for ever for a writer.
func Dir(dir string) fs.FS { return directory(cmp.Or(dir, ".")) }

type directory string

func (d directory) Open(name string) (fs.File, error) {
	info, err := d.Stat(name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: d.path(name), Err: source.ErrNotAFile}
	}
	if err != nil {
		return nil, err
	}
	return at(d, "open", name, func(path string) (fs.File, error) { return os.Open(path) })
}

func (d directory) Stat(name string) (fs.FileInfo, error) { return at(d, "stat", name, os.Stat) }

func (d directory) ReadDir(name string) ([]fs.DirEntry, error) {
	return at(d, "readdir", name, os.ReadDir)
}

func (d directory) path(name string) string { return filepath.Join(string(d), name) }

// at does something with what has this name in a directory.
func at[T any](d directory, op, name string, do func(path string) (T, error)) (result T, err error) {
	if !filepath.IsLocal(name) {
		return result, &fs.PathError{Op: op, Path: d.path(name), Err: fs.ErrInvalid}
	}
	result, err = do(string(d) + string(filepath.Separator) + name) // not joined: "." is refused where directories must not be searched
	var wrong *fs.PathError
	if errors.As(err, &wrong) {
		err = &fs.PathError{Op: wrong.Op, Path: d.path(name), Err: wrong.Err}
	}
	return result, err
}
