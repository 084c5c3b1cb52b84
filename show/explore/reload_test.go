package explore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// waitFor asks again and again until something holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("%s does not come", what)
}

// A trace may be replaced while it is looked at: what was read goes on to be served, until somebody asks for the new one.
func TestTraceIsReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	var ranks atomic.Int64
	var broken atomic.Bool
	ranks.Store(4)
	s, h := serve(t, []Source{{Name: file, Files: []string{file}, Open: func(context.Context) (*Opened, error) {
		if broken.Load() {
			return nil, errors.New("half of it is missing")
		}
		return &Opened{Timeline: halo(t, int(ranks.Load()), 2)}, nil
	}}})
	run := func() Run { return get[Runs](t, s, h, "/api/runs").Runs[0] }
	if r := run(); r.Changed || r.Ranks != 4 || r.Generation != 1 || len(r.Warnings) > 0 {
		t.Fatalf("run = %+v", r)
	}
	ranks.Store(9)
	write("another one")
	waitFor(t, "the word that the files changed", func() bool { return run().Changed })
	r := run()
	if r.Ranks != 4 || r.Generation != 1 || !slices.ContainsFunc(r.Warnings,
		func(w string) bool { return strings.Contains(w, "files changed") }) {
		t.Errorf("run = %+v, want the old one with a warning", r)
	}
	get[Tree](t, s, h, "/api/tree")
	get[Runs](t, s, h, "/api/runs?reload=0")
	waitFor(t, "the new run", func() bool { return run().Generation == 2 })
	if r := run(); r.Ranks != 9 || r.Changed || r.Reloading || len(r.Warnings) > 0 {
		t.Errorf("run = %+v, want the new one", r)
	}
	get[Tree](t, s, h, "/api/tree")

	broken.Store(true)
	write("a broken one")
	get[Runs](t, s, h, "/api/runs?reload=0")
	waitFor(t, "the word that it cannot be read", func() bool {
		r := run()
		return !r.Reloading && slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "half of it is missing") })
	})
	if r := run(); r.Ranks != 9 || r.Generation != 2 {
		t.Errorf("run = %+v, want what was read before", r)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the word that the file is gone", func() bool { return run().Changed })
	get[Tree](t, s, h, "/api/tree")
}

func TestWhatNeverChangesIsNotReadAgain(t *testing.T) {
	s, h := serverOf(t, halo(t, 4, 2))
	if r := get[Runs](t, s, h, "/api/runs?reload=0").Runs[0]; r.Reloading || r.Changed || r.Generation != 1 {
		t.Errorf("run = %+v", r)
	}
}

func TestStampOfFiles(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := stampOf([]string{dir, filepath.Join(dir, "missing")})
	if before.files != 1 || before.bytes != 1 {
		t.Errorf("stamp = %+v, want one file of one byte", before)
	}
	if again := stampOf([]string{dir}); again != before {
		t.Errorf("stamp = %+v without a change, want %+v", again, before)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(name, later, later); err != nil {
		t.Fatal(err)
	}
	if stampOf([]string{dir}) == before {
		t.Error("a change of time is not seen")
	}
}
