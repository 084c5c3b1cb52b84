package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"slackline/internal/needed"
)

// TestForeignLinksAreNotFollowed plants symbolic links of another user where a file is to be written.
func TestForeignLinksAreNotFollowed(t *testing.T) {
	needed.That(t, os.Getuid() == 0, "root, who can plant files of other users,")
	const stranger = 54321
	for _, tc := range []struct {
		name  string
		plant func(dir, victim string) (out string, err error)
		fine  bool
	}{
		{"own link", func(dir, victim string) (string, error) {
			link := filepath.Join(dir, "out")
			return link, os.Symlink(victim, link)
		}, true},
		{"link", func(dir, victim string) (string, error) {
			link := filepath.Join(dir, "out")
			return link, errors.Join(os.Symlink(victim, link), os.Lchown(link, stranger, stranger))
		}, false},
		{"link to what is not there", func(dir, victim string) (string, error) {
			link := filepath.Join(dir, "out")
			return link, errors.Join(os.Symlink(victim+".new", link), os.Lchown(link, stranger, stranger))
		}, false},
		{"own link to a link", func(dir, victim string) (string, error) {
			link, middle := filepath.Join(dir, "out"), filepath.Join(dir, "middle")
			return link, errors.Join(os.Symlink("middle", link), os.Symlink(victim, middle), os.Lchown(middle, stranger, stranger))
		}, false},
		{"link to a folder", func(dir, victim string) (string, error) {
			link := filepath.Join(dir, "folder")
			return filepath.Join(link, filepath.Base(victim)),
				errors.Join(os.Symlink(filepath.Dir(victim), link), os.Lchown(link, stranger, stranger))
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o777|fs.ModeSticky); err != nil {
				t.Fatal(err)
			}
			victim := filepath.Join(t.TempDir(), "victim")
			if err := os.WriteFile(victim, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := tc.plant(dir, victim)
			if err != nil {
				t.Fatal(err)
			}
			if err := Write(out, text("new")); errors.Is(err, ErrForeignLink) == tc.fine {
				t.Errorf("Write = %v, want fine: %v", err, tc.fine)
			}
			if got := read(t, victim); (got == "new") != tc.fine {
				t.Errorf("what the link leads to = %q", got)
			}
			if _, err := os.Stat(victim + ".new"); err == nil {
				t.Error("what the link leads to was made")
			}
		})
	}
}

func TestForeignFolderOfDirectories(t *testing.T) {
	needed.That(t, os.Getuid() == 0, "root, who can plant files of other users,")
	dir, elsewhere := t.TempDir(), t.TempDir()
	link := filepath.Join(dir, "folder")
	if err := errors.Join(os.Chmod(dir, 0o777|fs.ModeSticky), os.Symlink(elsewhere, link), os.Lchown(link, 54321, 54321)); err != nil {
		t.Fatal(err)
	}
	err := WriteDir(filepath.Join(link, "trace"), []string{""}, func(d *Dir) error { return nil })
	if !errors.Is(err, ErrForeignLink) {
		t.Errorf("WriteDir = %v, want it refused", err)
	}
}
