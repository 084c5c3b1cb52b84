package kineto

import (
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"
)

// packed is what gzip makes of a text.
func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	z.Close()
	return b.Bytes()
}

// TestSniff: files of the PyTorch profiler are known by its members and categories, others by their events; packed or not.
func TestSniff(t *testing.T) {
	for _, c := range []struct {
		name           string
		head           string
		kineto, chrome bool
	}{
		{"nothing", "", false, false},
		{"space", " \n", false, false},
		{"a list", `[{"ph": "X"`, false, false}, // its first event is not all there
		{"a list of events", `[ {"ph": "X"}, `, false, true},
		{"a list of others", `[{"a": 1}]`, false, false},
		{"a list of lists", `[["ph"]]`, false, false},
		{"an object", ` {"traceEvents": [`, false, true},
		{"an object of others", `{"events": [`, false, false},
		{"members of the profiler", `{"schemaVersion": 1, "traceEvents": [`, true, false},
		{"the base time alone", `{"baseTimeNanoseconds": 5, `, true, false},
		{"a category of the profiler", `{"traceEvents": [{"ph": "X", "cat": "cpu_op"`, true, false},
		{"a later category", `[{"ph": "M"}, {"cat" : "other"}, {"cat":"kernel"}`, true, false},
		{"another category", `[{"ph": "X", "cat": "blink"}]`, false, true},
		{"text", "schemaVersion traceEvents", false, false},
	} {
		for how, head := range map[string][]byte{"as it is": []byte(c.head), "packed": packed(c.head)} {
			if k, o := Sniff(head), SniffChrome(head); k != c.kineto || o != c.chrome {
				t.Errorf("%s, %s: of the profiler %t, of others %t, want %t, %t", c.name, how, k, o, c.kineto, c.chrome)
			}
		}
	}
	if Sniff([]byte{0x1f, 0x8b, 0}) || SniffChrome([]byte{0x1f, 0x8b}) {
		t.Error("a packed file that is damaged is taken for a trace")
	}
	cut := packed(`{"schemaVersion": 1, "traceEvents": [` + strings.Repeat(whole(1, 1, "f", 1, 1)+",", 500))
	if !Sniff(cut[:len(cut)/2]) {
		t.Error("the first half of a packed file is not recognized")
	}
}

func TestNames(t *testing.T) {
	got := Names([]string{"b.json", "a.trace.gz", "x.json.gz", "x.gz", "json", "note.txt", "B.JSON"})
	if want := []string{"a.trace.gz", "b.json", "x.json.gz"}; !slices.Equal(got, want) {
		t.Errorf("files of a trace = %q, want %q", got, want)
	}
}
