package inject

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"slackline/observe/mpi"
)

// TestNoWarnings wants the compiler to have nothing to say about the library.
func TestNoWarnings(t *testing.T) {
	s, err := source()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"-std=c11", "-fsyntax-only", "-Werror", "-Wall", "-Wextra", "-Wshadow", "-I", dir}
	for name, text := range s.Files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".c") {
			args = append(args, path)
		}
	}
	eachLibrary(t, func(t *testing.T, l *mpi.Library) {
		if out, err := exec.Command(l.Compiler, args...).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
