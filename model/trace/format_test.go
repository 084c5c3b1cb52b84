package trace

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestFormats walks the table: each entry can be listed, recognized, and read or written.
func TestFormats(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats() {
		if f.Name == "" || f.Noun == "" || f.Info == "" || (f.Sniff == nil) != (f.read == nil) || f.Writable() && len(f.Suffixes) == 0 {
			t.Errorf("%s: the entry is not complete: %+v", f.Name, f)
		}
		for _, key := range slices.Compact(append([]string{f.Name}, f.Suffixes...)) {
			if seen[key] {
				t.Errorf("%s: %q is in the table twice", f.Name, key)
			}
			seen[key] = true
		}
		if got, err := FormatNamed(f.Name); err != nil || got.Name != f.Name {
			t.Errorf("FormatNamed(%s) = %s, %v", f.Name, got.Name, err)
		}
		_, err := Open(fstest.MapFS{"x": {Data: []byte("nothing")}}, "x", Options{})
		if f.read != nil && (err == nil || !strings.Contains(err.Error(), f.Noun)) {
			t.Errorf("the error of a file of no format is %v, want it to name %s", err, f.Noun)
		}
	}
	if _, err := FormatNamed("nothing"); err == nil || !strings.Contains(err.Error(), strings.Join(formatNames(), ", ")) {
		t.Errorf("FormatNamed(nothing) = %v, want the list of formats", err)
	}
}

// TestFormatsRoundTrip writes a trace in each format that is also read, and finds it again by its content.
func TestFormatsRoundTrip(t *testing.T) {
	text := "slackline trace 1\nrank 0\n0..4 MPI_Send: send to 1\nrank 1\n0..5 MPI_Recv: recv from 0\n"
	in, err := Open(fstest.MapFS{"x.trace": {Data: []byte(text)}}, "x.trace", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats() {
		if !f.Writable() || f.read == nil {
			continue
		}
		dir := t.TempDir()
		name := "x" + f.Suffixes[0]
		if _, err := Write(filepath.Join(dir, name), in, f.Name, WriteOptions{}); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		found, main, ok, err := Find(os.DirFS(dir), name)
		if err != nil || !ok || found.Name != f.Name {
			t.Errorf("%s: found as %q at %s, %v", f.Name, found.Name, main, err)
			continue
		}
		again, err := Open(os.DirFS(dir), name, Options{})
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if again.Format != f.Name || again.Ranks != in.Ranks {
			t.Errorf("%s: read as %s with %d ranks, want %d", f.Name, again.Format, again.Ranks, in.Ranks)
		}
		again.release()
	}
	var b bytes.Buffer
	if _, err := perfettoFormat.Stream(&b, in, WriteOptions{}); err != nil || b.Len() == 0 {
		t.Errorf("perfetto: %d bytes, %v", b.Len(), err)
	}
}
