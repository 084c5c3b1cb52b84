package schedule

import (
	"bytes"
	"strings"
	"testing"
)

// TestFormats walks the table: each entry can be listed, recognized, and read or written.
func TestFormats(t *testing.T) {
	g, err := Read("x.goal", []byte("num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range Formats() {
		if f.Name == "" || f.Noun == "" || f.Info == "" || (f.Sniff == nil) != (f.Read == nil) || len(f.Suffixes) == 0 {
			t.Errorf("%s: the entry is not complete: %+v", f.Name, f)
		}
		for _, key := range append([]string{f.Noun}, f.Suffixes...) {
			if seen[key] {
				t.Errorf("%s: %q is in the table twice", f.Name, key)
			}
			seen[key] = true
		}
		if f.Write == nil || f.Read == nil {
			continue
		}
		var b bytes.Buffer
		if _, err := f.Write(&b, g); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if found, err := Sniff("x", b.Bytes()); err != nil || found.Name != f.Name {
			t.Errorf("what %s writes is taken for %s, %v", f.Name, found.Name, err)
		}
		if _, err := Read("x", b.Bytes()); err != nil {
			t.Errorf("what %s writes cannot be read: %v", f.Name, err)
		}
		if _, err := Read("x", []byte("nothing")); err == nil || !strings.Contains(err.Error(), f.Noun) {
			t.Errorf("the error of a file of no format is %v, want it to name %s", err, f.Noun)
		}
	}
}
