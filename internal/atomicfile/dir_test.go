package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// put creates files with the given contents, by name.
func put(files map[string]string) func(d *Dir) error {
	return func(d *Dir) error {
		for name, content := range files {
			f, err := d.Create(name)
			if err != nil {
				return err
			}
			if _, err := f.Write([]byte(content)); err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
		}
		return nil
	}
}

// list returns all names in a directory and below.
func list(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*", "*/*", ".*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			short, err := filepath.Rel(dir, name)
			if err != nil {
				t.Fatal(err)
			}
			if short != "." && short != ".." {
				names = append(names, short)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestWriteDir(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "out")
	if err := WriteDir(path, nil, put(map[string]string{"a": "1", "b/c": "2"})); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(path, "b", "c")); got != "2" {
		t.Errorf("content = %q, want 2", got)
	}
	if err := WriteDir(path, nil, put(map[string]string{"z": "3"})); !errors.Is(err, ErrExists) {
		t.Errorf("a second WriteDir = %v, want %v", err, ErrExists)
	}
	failure := errors.New("no")
	if err := WriteDir(path, []string{""}, func(*Dir) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("WriteDir = %v, want %v", err, failure)
	}
	if got, want := list(t, parent), []string{"out", "out/a", "out/b"}; !slices.Equal(got, want) {
		t.Errorf("after a failure there are %q, want %q", got, want)
	}
	if err := WriteDir(path, []string{""}, put(map[string]string{"z": "3"})); err != nil {
		t.Fatal(err)
	}
	if got, want := list(t, parent), []string{"out", "out/z"}; !slices.Equal(got, want) {
		t.Errorf("after replacing it there are %q, want %q", got, want)
	}
}

func TestWriteGroup(t *testing.T) {
	parent := t.TempDir()
	if err := os.WriteFile(filepath.Join(parent, "other"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	names := []string{"x", "x.def", "x.otf2"}
	files := map[string]string{"x/0": "e", "x.def": "d", "x.otf2": "a"}
	for range 2 { // the second time it replaces what is there
		if err := WriteGroup(parent, names, []string{""}, put(files)); err != nil {
			t.Fatal(err)
		}
		if got, want := list(t, parent), []string{"other", "x", "x.def", "x.otf2", "x/0"}; !slices.Equal(got, want) {
			t.Errorf("there are %q, want %q", got, want)
		}
	}
	if err := os.Remove(filepath.Join(parent, "x.otf2")); err != nil {
		t.Fatal(err)
	}
	if err := WriteGroup(parent, names, nil, put(files)); !errors.Is(err, ErrExists) {
		t.Errorf("WriteGroup = %v, want %v", err, ErrExists)
	}
}

// A name that leads out of the directory is refused.
func TestCreateStaysInside(t *testing.T) {
	parent := t.TempDir()
	err := WriteDir(filepath.Join(parent, "out"), nil, func(d *Dir) error {
		_, err := d.Create("../a")
		return err
	})
	if err == nil || len(list(t, parent)) > 0 {
		t.Errorf("error %v, files %q", err, list(t, parent))
	}
}

// TestFolderThatCannotBeMade wants each file to say why its folder cannot be made, not only the first one: the others lack nothing but
// that.
func TestFolderThatCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	d := &Dir{path: dir, made: map[string]bool{}}
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, first := d.Create("in/a")
	_, second := d.Create("in/b")
	if first == nil || second == nil || first.Error() != second.Error() {
		t.Errorf("%v, then %v; want the same reason twice", first, second)
	}
	if err := os.Remove(in); err != nil {
		t.Fatal(err)
	}
	f, err := d.Create("in/c")
	if err != nil {
		t.Fatalf("when it can be made: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// A directory that cannot be moved aside is named as the user knows it.
func TestErrorOfReplacedDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"out/x", "aside/x/full", "fresh/x"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	err := move(filepath.Join(dir, "fresh"), out, filepath.Join(dir, "aside"), "x")
	if err == nil || !strings.Contains(err.Error(), filepath.Join(out, "x")+": ") || strings.Contains(err.Error(), "aside") {
		t.Errorf("error %v, want one of %s/x alone", err, out)
	}
}

// TestForeignFiles: a directory that has files of another kind is not replaced, whatever it is called.
func TestForeignFiles(t *testing.T) {
	for _, c := range []struct {
		file string
		ours bool
	}{{"0.slt", true}, {"more/0.slt", true}, {"notes.txt", false}, {"more/slt", false}} {
		path := filepath.Join(t.TempDir(), "run")
		if err := WriteDir(path, nil, put(map[string]string{"1.slt": "", c.file: "kept"})); err != nil {
			t.Fatal(err)
		}
		err := WriteDir(path, []string{".slt"}, put(map[string]string{"2.slt": ""}))
		if (err == nil) != c.ours || err != nil && !strings.Contains(err.Error(), filepath.Join(path, c.file)+", which would be deleted") {
			t.Errorf("beside %s: %v", c.file, err)
		}
		if _, left := os.Stat(filepath.Join(path, c.file)); (left == nil) == c.ours {
			t.Errorf("%s: %v", c.file, left)
		}
	}
}
