package mpi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/internal/needed"
	"slackline/internal/trusted"
)

// TestPlantedPartsAreRefused makes the folders and files that another user could make before this one does, without HOME
// and XDG_CACHE_HOME: what is in them must not be run.
func TestPlantedPartsAreRefused(t *testing.T) {
	needed.That(t, os.Getuid() == 0, "root, who can plant files of other users,")
	list, err := Find(context.Background())
	needed.NoError(t, err)
	library := list[0]
	part := Source{Name: "part", Files: map[string]string{"a.c": "int main(void) { return 0; }\n"}, Program: true}
	const stranger = 54321
	for _, tc := range []struct {
		name  string
		plant func(tmp, program string) error
	}{
		{"all of it", func(tmp, _ string) error {
			return filepath.Walk(filepath.Join(tmp, "slackline-0"), func(path string, _ os.FileInfo, err error) error {
				return errors.Join(err, os.Lchown(path, stranger, stranger))
			})
		}},
		{"the folder in the middle", func(tmp, _ string) error {
			return os.Chown(filepath.Join(tmp, "slackline-0", "slackline"), stranger, stranger)
		}},
		{"the program", func(_, program string) error { return os.Chown(program, stranger, stranger) }},
		{"the mode of the program", func(_, program string) error { return os.Chmod(program, 0o777) }},
		{"the mode of its folder", func(_, program string) error { return os.Chmod(filepath.Dir(program), 0o777) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			t.Setenv("HOME", "")
			t.Setenv("XDG_CACHE_HOME", "")
			program, _, err := library.Compile(context.Background(), part)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(program, filepath.Join(tmp, "slackline-0")) {
				t.Fatalf("the program is %s, want it below %s", program, tmp)
			}
			if err := tc.plant(tmp, program); err != nil {
				t.Fatal(err)
			}
			path, _, err := library.Compile(context.Background(), part)
			if !errors.Is(err, trusted.ErrUntrusted) || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
				t.Errorf("Compile = %q, %v, want it refused with a way out", path, err)
			}
		})
	}
}

// TestPlantedBridgeIsRefused plants the note that names the bridge, and a program for it to name.
func TestPlantedBridgeIsRefused(t *testing.T) {
	needed.That(t, os.Getuid() == 0, "root, who can plant files of other users,")
	const stranger = 54321
	for _, what := range []string{"note", "program", "folder"} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			var s Start
			dir := cacheDir()
			if err := writable(dir); err != nil {
				t.Fatal(err)
			}
			note, program := filepath.Join(dir, s.note("", compilersIn)), filepath.Join(dir, "program")
			if err := errors.Join(os.WriteFile(program, nil, 0o755), os.WriteFile(note, []byte(program+"\n"), 0o644)); err != nil {
				t.Fatal(err)
			}
			if path, err := s.bridge(context.Background(), ""); err != nil || path != program {
				t.Fatalf("bridge = %q, %v, want the one that is noted", path, err)
			}
			if err := os.Chown(map[string]string{"note": note, "program": program, "folder": dir}[what], stranger, stranger); err != nil {
				t.Fatal(err)
			}
			if path, err := s.bridge(context.Background(), ""); !errors.Is(err, trusted.ErrUntrusted) {
				t.Errorf("bridge = %q, %v, want it refused", path, err)
			}
		})
	}
}
