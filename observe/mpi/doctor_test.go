package mpi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/internal/needed"
)

// TestDoctorRemarks wants what has to be done first in the inventory.
func TestDoctorRemarks(t *testing.T) {
	needed.That(t, os.Getuid() == 0, "root, whom Open MPI refuses,")
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "")
	d, err := Doctor(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(d.Remarks, "\n")
	root := slices.ContainsFunc(d.Libraries, func(l *Library) bool { return l.Kind == OpenMPI })
	if !strings.Contains(text, dir+" can be written by others") || strings.Contains(text, "OMPI_ALLOW_RUN_AS_ROOT=1") != root {
		t.Errorf("remarks: %s", text)
	}
}

// TestCacheRemark wants every cache that would be refused to be reported, with a way out.
func TestCacheRemark(t *testing.T) {
	needed.That(t, os.Getuid() == 0, "root, who can plant files of other users,")
	const stranger = 54321
	for _, tc := range []struct {
		name  string
		spoil func(dir string) error
		want  string // empty: nothing is reported
	}{
		{"fine", func(string) error { return nil }, ""},
		{"missing", os.RemoveAll, ""},
		{"of another user", func(dir string) error { return os.Chown(dir, stranger, 0) }, "belongs to user 54321"},
		{"writable by others", func(dir string) error { return os.Chmod(dir, 0o777) }, "chmod go-w"},
		{"a part of another user", func(dir string) error {
			return os.Chown(filepath.Join(dir, "key", "part.so"), stranger, 0)
		}, "part.so belongs"},
		{"a folder that others can write", func(dir string) error { return os.Chmod(filepath.Join(dir, "key"), 0o777) }, "key can be written"},
		{"not a folder", func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) }, "is not a folder"},
		{"no room", func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Symlink("/proc/none", dir)) }, "no such file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "mpi")
			err := os.MkdirAll(filepath.Join(dir, "key"), 0o700)
			if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "key", "part.so"), nil, 0o700)); err == nil {
				err = tc.spoil(dir)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := cacheRemark(dir)
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) || tc.want != "" && !strings.Contains(got, "XDG_CACHE_HOME") {
				t.Errorf("got %q, want %q and a way out", got, tc.want)
			}
		})
	}
}

func TestRootRemark(t *testing.T) {
	open, other := []*Library{{Kind: MPICH}, {Kind: OpenMPI}}, []*Library{{Kind: MPICH}}
	for _, tc := range []struct {
		name string
		list []*Library
		user int
		set  string
		want string
	}{
		{"root", open, 0, "", "OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
		{"root with one of both", open, 0, "OMPI_ALLOW_RUN_AS_ROOT", "unless you set OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
		{"root with both", open, 0, "OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", ""},
		{"root without Open MPI", other, 0, "", ""},
		{"somebody else", open, 1000, "", ""},
	} {
		getenv := func(name string) string {
			for _, set := range strings.Fields(tc.set) {
				if set == name {
					return "1"
				}
			}
			return ""
		}
		if got := rootRemark(tc.list, tc.user, getenv); (got == "") != (tc.want == "") || !strings.HasSuffix(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
