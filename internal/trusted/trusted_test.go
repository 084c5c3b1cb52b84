package trusted

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/internal/needed"
)

// stranger is a user that is neither root nor the one that runs the tests.
const stranger = 54321

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestUntrusted plants folders, files and links as another user could.
func TestUntrusted(t *testing.T) {
	needed.That(t, os.Getuid() == 0, "root, who can plant files of other users,")
	for _, tc := range []struct {
		name  string
		plant func(top, dir, file string) error // file lies in dir, dir in a folder below top
		fine  bool
	}{
		{"nothing", func(string, string, string) error { return nil }, true},
		{"file of another user", func(_, _, file string) error { return os.Chown(file, stranger, 0) }, false},
		{"file that a group can write", func(_, _, file string) error { return os.Chmod(file, 0o775) }, false},
		{"file that all can write", func(_, _, file string) error { return os.Chmod(file, 0o757) }, false},
		{"folder of another user", func(_, dir, _ string) error { return os.Chown(dir, stranger, 0) }, false},
		{"folder that a group can write", func(_, dir, _ string) error { return os.Chmod(dir, 0o770) }, false},
		{"sticky folder", func(_, dir, _ string) error { return os.Chmod(dir, 0o777|fs.ModeSticky) }, false},
		{"parent of another user", func(_, dir, _ string) error { return os.Chown(filepath.Dir(dir), stranger, 0) }, false},
		{"parent that all can write", func(_, dir, _ string) error { return os.Chmod(filepath.Dir(dir), 0o777) }, false},
		{"sticky parent", func(_, dir, _ string) error { return os.Chmod(filepath.Dir(dir), 0o777|fs.ModeSticky) }, true},
		{"sticky parent of another user", func(_, dir, _ string) error {
			return errors.Join(os.Chmod(filepath.Dir(dir), 0o777|fs.ModeSticky), os.Chown(filepath.Dir(dir), stranger, 0))
		}, false},
		{"link of another user", func(top, dir, _ string) error {
			other := filepath.Join(top, "elsewhere")
			return errors.Join(os.Rename(dir, other), os.Symlink(other, dir), os.Lchown(dir, stranger, 0))
		}, false},
		{"own link", func(top, dir, _ string) error {
			return errors.Join(os.Rename(dir, filepath.Join(top, "elsewhere")), os.Symlink("../../"+filepath.Base(top)+"/elsewhere", dir))
		}, true},
		{"own link to a folder of another user", func(top, dir, _ string) error {
			other := filepath.Join(top, "elsewhere")
			return errors.Join(os.Rename(dir, other), os.Symlink(other, dir), os.Chown(other, stranger, 0))
		}, false},
		{"link of another user in place of the file", func(top, _, file string) error {
			other := filepath.Join(top, "elsewhere")
			return errors.Join(os.Rename(file, other), os.Symlink(other, file), os.Lchown(file, stranger, 0))
		}, false},
		{"links in a circle", func(_, dir, _ string) error { return errors.Join(os.RemoveAll(dir), os.Symlink(dir, dir)) }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "parent", "dir")
			must(t, Dir(dir))
			file := filepath.Join(dir, "program")
			must(t, os.WriteFile(file, nil, 0o700))
			must(t, tc.plant(top, dir, file))
			if err := File(file); (err == nil) != tc.fine {
				t.Errorf("File = %v, want fine: %v", err, tc.fine)
			}
			aboutFile := strings.Contains(tc.name, "file") && !strings.Contains(tc.name, "folder")
			if err := Dir(dir); (err == nil) != (tc.fine || aboutFile) {
				t.Errorf("Dir = %v, want fine: %v", err, tc.fine || aboutFile)
			}
		})
	}
}

func TestDirIsForTheUser(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	must(t, Dir(dir))
	for _, d := range []string{dir, filepath.Dir(dir)} {
		info, err := os.Stat(d)
		must(t, err)
		if got := info.Mode().Perm(); got != 0o700 {
			t.Errorf("%s has mode %o, want 700", d, got)
		}
	}
	file := filepath.Join(dir, "f")
	must(t, os.WriteFile(file, nil, 0o600))
	if err := Dir(file); !errors.Is(err, ErrUntrusted) {
		t.Errorf("Dir of a file = %v", err)
	}
	if err := File(dir); !errors.Is(err, ErrUntrusted) {
		t.Errorf("File of a folder = %v", err)
	}
	if err := File(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("File of nothing = %v", err)
	}
}

func TestOwned(t *testing.T) {
	needed.That(t, os.Getuid() == 0, "root, who can plant files of other users,")
	dir := t.TempDir()
	must(t, Owned(dir))
	must(t, os.Chmod(dir, 0o777))
	if err := Owned(dir); !errors.Is(err, ErrUntrusted) {
		t.Errorf("Owned = %v for a folder in which all can write", err)
	}
	must(t, os.Chmod(dir, 0o775))
	must(t, Owned(dir)) // colleagues share it
	must(t, os.Chown(dir, stranger, 0))
	if err := Owned(dir); !errors.Is(err, ErrUntrusted) {
		t.Errorf("Owned = %v for the folder of another user", err)
	}
}
