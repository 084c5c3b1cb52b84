package input

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"slackline/internal/source"
)

// Dir is os.DirFS whose errors name the whole path, and without what is neither a file nor a directory: to open a named pipe that has
// the name of a file would wait for ever for a writer.
func Dir(dir string) fs.FS { return directory{os.DirFS(dir).(fs.StatFS), dir} }

type directory struct {
	fs.StatFS
	path string
}

func (d directory) Open(name string) (fs.File, error) {
	info, err := d.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, d.named(&fs.PathError{Op: "open", Path: name, Err: source.ErrNotAFile})
	}
	f, err := d.StatFS.Open(name)
	return f, d.named(err)
}

func (d directory) Stat(name string) (fs.FileInfo, error) {
	info, err := d.StatFS.Stat(name)
	return info, d.named(err)
}

func (d directory) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(d.StatFS, name)
	return list, d.named(err)
}

// named gives an error the path below the working directory.
func (d directory) named(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return &fs.PathError{Op: at.Op, Path: filepath.Join(d.path, at.Path), Err: at.Err}
	}
	return err
}
