package input

import (
	"io/fs"
	"os"

	"slackline/internal/source"
)

// Dir is os.DirFS without what is neither a file nor a directory: to open a named pipe that has the name of a file would wait for ever
// for a writer.
func Dir(dir string) fs.FS { return directory{os.DirFS(dir).(fs.StatFS)} }

type directory struct{ fs.StatFS }

func (d directory) Open(name string) (fs.File, error) {
	info, err := d.Stat(name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: source.ErrNotAFile}
	}
	if err != nil {
		return nil, err
	}
	return d.StatFS.Open(name)
}
