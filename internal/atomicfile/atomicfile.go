// Package atomicfile writes files that are either complete or not there.
//
// The content goes to a temporary name in the same directory, is synced, and
// then takes its place with one rename. Whatever was there before stays
// untouched until that moment. Devices, pipes and the open files of a process
// (/dev/stdout, /dev/fd/3) cannot be replaced and are written to directly.
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
	"strconv"
	"strings"
	"sync"

	"slackline/internal/trusted"
)

// bufferSize is large enough that a fast writer spends little time in system
// calls.
const bufferSize = 1 << 18

// ErrIsInput means that the output would replace a file that is being read.
var ErrIsInput = errors.New("is also an input; give another name")

// Write makes the file at path hold exactly what fill writes. If fill fails, so
// does Write, and the file that was there before remains.
func Write(path string, fill func(w io.Writer) error) (err error) {
	if isDescriptor(path) {
		return writeDirectly(path, os.O_APPEND, fill)
	}
	path, info, err := target(path)
	if err != nil {
		return err
	}
	if info != nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return &fs.PathError{Op: "write", Path: path, Err: errors.New("is a directory")}
		}
		return writeDirectly(path, 0, fill)
	}
	var f *os.File
	name, err := makeTemp(path, func(name string) (err error) {
		f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666) // the permissions that a new file would get
		return err
	})
	if err != nil {
		return err
	}
	defer begin(name, "")()
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(name)
			err = renamed(err, name, path)
		}
	}()
	if info != nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	}
	w := &durable{f, bufio.NewWriterSize(f, bufferSize)}
	if err := fill(w.Writer); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := rename(name, path, path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// CheckNotInput returns ErrIsInput, with the path, if out names the same file
// as one of the inputs. Inputs that do not exist and "-" count for nothing.
func CheckNotInput(out string, inputs ...string) error {
	o, err := os.Stat(out)
	if err != nil {
		return nil // a new file cannot be an input
	}
	for _, in := range inputs {
		i, err := os.Stat(in)
		if err == nil && o.Mode().IsRegular() && os.SameFile(o, i) {
			return fmt.Errorf("%s: %w", out, ErrIsInput)
		}
	}
	return nil
}

// ErrForeignLink means that another user has put a symbolic link where the output is to be written, perhaps to have
// something else replaced.
var ErrForeignLink = errors.New("is a symbolic link of another user; give another name")

// CheckLinks returns ErrForeignLink, with the path, if one of the symbolic links to which a path leads belongs neither to
// this user nor to root. Of the folders on the way those count that lie where all users can put links, as in /tmp.
func CheckLinks(path string) error {
	const maxLinks = 40 // as the system has it
	for range maxLinks {
		if err := checkFolders(filepath.Dir(path)); err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Type() != fs.ModeSymlink {
			return nil // no link: what else is wrong with it is found when it is written
		}
		if trusted.Owned(path) != nil {
			return fmt.Errorf("%s %w", path, ErrForeignLink)
		}
		link, err := os.Readlink(path)
		if err != nil {
			return err
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return nil
}

// checkFolders is CheckLinks for the folder of a file.
func checkFolders(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		if err != nil || info.Mode().Type() != fs.ModeSymlink || trusted.Owned(dir) == nil {
			continue
		}
		if around, err := os.Stat(parent); err != nil || around.Mode().Perm()&0o002 != 0 {
			return fmt.Errorf("%s %w", dir, ErrForeignLink)
		}
	}
}

// target follows symbolic links, so that the file they lead to is replaced and
// not the link, and returns what is there (nil: nothing).
func target(path string) (string, fs.FileInfo, error) {
	if err := CheckLinks(path); err != nil {
		return path, nil, err
	}
	if link, err := filepath.EvalSymlinks(path); err == nil {
		path = link
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil, nil
	case err != nil:
		return path, nil, err
	}
	return path, info, nil
}

// isDescriptor reports whether path leads, perhaps over symbolic links, to an
// open file of a process, such as /dev/stdout or /dev/fd/3. Another process has
// opened that file, and goes on using it: it must not be replaced.
func isDescriptor(path string) bool {
	const maxLinks = 40 // as the system has it
	for range maxLinks {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return false
		}
		dir, name := filepath.Split(absolute)
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if ok, _ := filepath.Match("/proc/*/fd", filepath.Clean(dir)); ok {
			return true
		}
		link, err := os.Readlink(filepath.Join(dir, name))
		if err != nil {
			return filepath.Clean(dir) == "/dev/fd" // where there is no /proc
		}
		if path = link; !filepath.IsAbs(link) {
			path = filepath.Join(dir, link)
		}
	}
	return false
}

// underWay are the temporary files and directories that are being written, each with the directory around it that is temporary, too.
var underWay sync.Map

// begin keeps a temporary name until what it returns is called.
func begin(name, around string) (end func()) {
	underWay.Store(name, around)
	return func() { underWay.Delete(name) }
}

// Abandon removes what is not complete yet. It is for a program that ends while it writes.
func Abandon() {
	underWay.Range(func(name, around any) bool {
		_ = os.RemoveAll(name.(string)) // nothing else can be done
		if around != "" {
			_ = os.Remove(around.(string)) // not if something of the user is in it
		}
		return true
	})
}

// writeDirectly writes to what exists and cannot be replaced.
func writeDirectly(path string, flags int, fill func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|flags, 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, bufferSize)
	if err = fill(w); err == nil {
		err = w.Flush()
	}
	return cmp.Or(err, f.Close())
}

// makeTemp makes something with a new name beside path. The name is that of path with something around it, as long as there is room.
func makeTemp(path string, create func(name string) error) (name string, err error) {
	const longest = 255 // bytes of a name, as most file systems have it
	dir, base := filepath.Split(path)
	for try := 0; ; try++ {
		end := ".tmp" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(try)
		name = filepath.Join(dir, "."+strings.ToValidUTF8(base[:min(len(base), longest-1-len(end))], "")+end)
		if err := create(name); !errors.Is(err, fs.ErrExist) || try == 1000 {
			return name, renamed(err, name, path)
		}
	}
}

// renamed is err with path in place of a temporary name, which means nothing to the user.
func renamed(err error, temporary, path string) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		if rest, below := strings.CutPrefix(at.Path, temporary); below {
			at.Path = path + rest
		}
	}
	if err != nil && strings.Contains(err.Error(), temporary) { // an error around it had made its text
		err = &reworded{err, strings.ReplaceAll(err.Error(), temporary, path)}
	}
	return err
}

// reworded is an error with another text.
type reworded struct {
	error
	text string
}

func (r *reworded) Error() string { return r.text }

func (r *reworded) Unwrap() error { return r.error }

// syncDir makes the rename durable where the system allows it.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // not every file system can sync a directory
		d.Close()
	}
}
