package atomicfile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// ErrExists means that something is where a directory of files should be written.
var ErrExists = errors.New("exists; give another name, or --force to replace it")

// CheckFree returns an error if something is at a path where files or a directory of files should be written: ErrExists, unless it may be
// replaced. Of directories only those may be that hold nothing but files with the suffixes, since all others would be lost; nil: nothing
// may be replaced.
func CheckFree(path string, replace []string) error {
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	if replace == nil {
		return fmt.Errorf("%s %w", path, ErrExists)
	}
	return filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		ours := func(suffix string) bool { return strings.HasSuffix(file, suffix) }
		switch {
		case err != nil:
			return err
		case file != path && !entry.IsDir() && !slices.ContainsFunc(replace, ours):
			return fmt.Errorf("%s has the file %s, which would be deleted; give another name", path, file)
		}
		return nil
	})
}

// Dir is a directory that is being filled. Several goroutines may create files in it.
type Dir struct {
	path string
	mu   sync.Mutex
	made map[string]bool // directories in it
}

// Create creates a file in the directory. The name is a path with slashes; directories on the way
// are made. Closing the file makes its content durable.
func (d *Dir) Create(name string) (io.WriteCloser, error) {
	path := filepath.Join(d.path, filepath.FromSlash(name))
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, fmt.Errorf("%s is not a name inside of a directory", name)
	}
	if err := d.makeParents(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return &durable{f, bufio.NewWriterSize(f, bufferSize)}, nil
}

func (d *Dir) makeParents(parent string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made[parent] {
		return nil
	}
	err := os.MkdirAll(parent, 0o777)
	d.made[parent] = err == nil
	return err
}

// durable is a file that is synced when it is closed.
type durable struct {
	f *os.File
	*bufio.Writer
}

func (d *durable) Close() error {
	err := d.Flush()
	if err == nil {
		err = d.f.Sync()
	}
	return cmp.Or(err, d.f.Close())
}

// WriteDir makes a directory at path that holds exactly the files that fill creates. What was
// there before is replaced as far as CheckFree allows it. If fill fails, so does
// WriteDir, and what was there before remains.
func WriteDir(path string, replace []string, fill func(d *Dir) error) error {
	return WriteGroup(filepath.Dir(path), []string{filepath.Base(path)}, replace, func(d *Dir) error {
		return fill(&Dir{path: filepath.Join(d.path, filepath.Base(path)), made: map[string]bool{}})
	})
}

// WriteGroup makes files and directories that belong together and lie side by side in the
// directory parent. fill creates them, with Dir as their parent; then each of names takes its place, in
// this order, so that the last one appears when everything is complete.
func WriteGroup(parent string, names, replace []string, fill func(d *Dir) error) (err error) {
	if err := checkFolders(parent); err != nil {
		return err
	}
	for _, name := range names {
		if err := CheckFree(filepath.Join(parent, name), replace); err != nil {
			return err
		}
	}
	temporary, err := makeTemp(filepath.Join(parent, names[len(names)-1]), func(name string) error { return os.Mkdir(name, 0o777) })
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	fresh := filepath.Join(temporary, "new")
	defer begin(fresh, temporary)()
	defer func() { err = renamed(err, fresh, parent) }()
	if err := os.Mkdir(fresh, 0o777); err != nil {
		return err
	}
	if err := fill(&Dir{path: fresh, made: map[string]bool{}}); err != nil {
		return err
	}
	if err := syncDirs(fresh); err != nil {
		return err
	}
	for _, name := range names {
		if err := move(fresh, parent, temporary, name); err != nil {
			return err
		}
	}
	syncDir(parent)
	return nil
}

// move moves a name from one directory to another. What it replaces goes to a third one.
func move(from, to, old, name string) error {
	place := filepath.Join(to, name)
	aside := filepath.Join(old, name)
	err := rename(place, aside, place)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	moved := err == nil
	if err := rename(filepath.Join(from, name), place, place); err != nil {
		if moved {
			err = errors.Join(err, rename(aside, place, place))
		}
		return err
	}
	return nil
}

// rename moves a file or a directory. Its error names the one that the user knows.
func rename(from, to, known string) error {
	err := os.Rename(from, to)
	var at *os.LinkError
	if errors.As(err, &at) {
		return &fs.PathError{Op: at.Op, Path: known, Err: at.Err}
	}
	return err
}

// syncDirs makes the names in a directory and below durable.
func syncDirs(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			syncDir(path)
		}
		return err
	})
}

// WriteInto writes files into a folder, beside what is there: all of them or none. Those with the names are replaced, and directories as
// far as CheckFree allows it. The folder is made if needed, and not left if the files cannot be written.
func WriteInto(folder string, names, replace []string, fill func(d *Dir) error) error {
	_, missing := os.Stat(folder)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	err := WriteGroup(folder, names, replace, fill)
	if err != nil && missing != nil {
		_ = os.Remove(folder) // it is empty
	}
	return err
}
