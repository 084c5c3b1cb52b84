package atomicfile

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"slackline/internal/needed"
)

func TestSame(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, err := range []error{
		os.Mkdir("sub", 0o777), os.Symlink("sub", "link"), os.WriteFile("old", nil, 0o666),
		os.Symlink("old", "alias"), os.Link("old", "twin"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"x.svg", "x.svg", true},
		{"x.svg", "./sub/../x.svg", true},
		{"x.svg", filepath.Join(dir, "x.svg"), true},
		{"sub/x", "link/x", true},
		{"old", "alias", true},
		{"old", "twin", true},
		{"sub", "link", true},
		{"x.svg", "y.svg", false},
		{"sub/x", "x", false},
		{"old", "x", false},
		{"/dev/null", "/dev/null", false},
	} {
		if got := Same(tc.a, tc.b); got != tc.want {
			t.Errorf("Same(%q, %q) = %v, want %v", tc.a, tc.b, got, tc.want)
		}
		if got := Same(tc.b, tc.a); got != tc.want {
			t.Errorf("Same(%q, %q) = %v, want %v", tc.b, tc.a, got, tc.want)
		}
	}
}

// What a process holds open is not replaced, also if it is a regular file.
func TestDescriptorsAreWrittenTo(t *testing.T) {
	_, err := os.Stat("/proc/self/fd")
	needed.NoError(t, err)
	path := filepath.Join(t.TempDir(), "a.txt")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("before, "); err != nil {
		t.Fatal(err)
	}
	number := strconv.Itoa(int(f.Fd()))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join("/dev/fd", number), link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join("/proc/self/fd", number), filepath.Join("/dev/fd", number), link} {
		if err := Write(name, text("more, ")); err != nil {
			t.Fatalf("Write(%s): %v", name, err)
		}
	}
	if got, want := read(t, path), "before, more, more, more, "; got != want {
		t.Errorf("content = %q, want %q", got, want)
	}
	held, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(held, now) {
		t.Errorf("the file was replaced (%v)", err)
	}
}
