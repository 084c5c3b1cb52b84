package schedule

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// fuzzFormat reads what it is given; what is accepted must pass Check and must come back the same
// after it has been written. Pack must make the same of it as Read.
func fuzzFormat(f *testing.F, format Format) {
	seed := func(dir, pattern string) {
		files, err := filepath.Glob(filepath.Join(referenceDir, dir, pattern))
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds %s/%s: %v", dir, pattern, err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
			if g, err := Read(path, data); err == nil && len(data) < 2000 {
				var out bytes.Buffer
				if _, err := format.Write(&out, g); err != nil {
					f.Fatal(err)
				}
				f.Add(out.Bytes())
			}
		}
	}
	seed("vectors", "[c-s]*.goal")
	seed("errors", "*.*")
	seed("vectors/bin", "*.bin")
	f.Fuzz(func(t *testing.T, data []byte) {
		if declaresTooMany(data) {
			t.Skip()
		}
		if diff := samePacked(format, data); diff != "" {
			t.Fatal(diff)
		}
		g, err := format.Read("fuzz", data)
		if err != nil {
			if g != nil || len(err.Error()) > 1000 {
				t.Fatalf("graph %v, error of %d bytes", g, len(err.Error()))
			}
			return
		}
		if err := Check(g); err != nil {
			t.Fatalf("Check = %v", err)
		}
		var out bytes.Buffer
		warnings, err := format.Write(&out, g)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("Write = %v, warnings %q", err, warnings)
		}
		again, err := format.Read("again", out.Bytes())
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, out.Bytes())
		}
		if got, want := describe(again), describe(g); got != want {
			t.Fatalf("it comes back as\n%s\nwant\n%s", got, want)
		}
	})
}

// declaresTooMany looks for a number of more than five digits behind the word that declares the ranks:
// tables by rank would take longer than everything else.
func declaresTooMany(data []byte) bool {
	if sniffBinary(data) {
		return false // the jump table bounds the number
	}
	for _, word := range []string{"num_ranks", "ranks"} {
		for rest := data; ; {
			_, behind, found := bytes.Cut(rest, []byte(word))
			if !found {
				break
			}
			rest = behind
			digits := 0
			for _, c := range behind[:min(len(behind), 1000)] {
				if c-'0' <= 9 {
					digits++
				} else if digits > 0 {
					break
				}
			}
			if digits > 5 {
				return true
			}
		}
	}
	return false
}

func FuzzReadGOAL(f *testing.F)   { fuzzFormat(f, goalFormat) }
func FuzzReadBinary(f *testing.F) { fuzzFormat(f, binaryFormat) }
