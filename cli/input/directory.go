package input

import (
	"io/fs"
	"os"
	"path/filepath"

	"slackline/internal/source"
)

// Dir is os.DirFS whose errors name the whole path, for names that need not be UTF-8, and without what is neither a file nor a directory:
// to open a named pipe that has the name of a file would wait for ever for a writer.
func Dir(dir string) fs.FS { return directory(dir) }

type directory string

// path is where something with this name is.
func (d directory) path(op, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", &fs.PathError{Op: op, Path: filepath.Join(string(d), name), Err: fs.ErrInvalid}
	}
	return filepath.Join(string(d), name), nil
}

func (d directory) Open(name string) (fs.File, error) {
	path, err := d.path("open", name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: source.ErrNotAFile}
	}
	return os.Open(path)
}

func (d directory) Stat(name string) (fs.FileInfo, error) {
	path, err := d.path("stat", name)
	if err != nil {
		return nil, err
	}
	return os.Stat(path)
}

func (d directory) ReadDir(name string) ([]fs.DirEntry, error) {
	path, err := d.path("readdir", name)
	if err != nil {
		return nil, err
	}
	return os.ReadDir(path)
}
