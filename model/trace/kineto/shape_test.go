package kineto

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// taken is what was taken of a file.
func taken(t *testing.T, data []byte, learns bool) string {
	t.Helper()
	f := newRankFile(0, "x")
	if !learns {
		f.shapes = maxShapes
	}
	err := readTraceEvents(&jsonStream{in: bytes.NewReader(data)}, nil, f.next, f.member)
	return fmt.Sprintln(err, f.events, f.skipped, f.base, f.origin, f.names, f.threads, f.streams, f.syncs, f.args, f.calls, f.correlated,
		f.acts)
}

// TestAlike: events that are read along the tree give what they give member by member.
func TestAlike(t *testing.T) {
	paths, err := filepath.Glob("../../../testdata/accelerator/cases/*/ranks/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, "there are no cases")
	}
	texts := [][]byte{traceText(400)}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, data)
	}
	odd := `{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 7, "ts": 1.5, "dur": 2, "args": {"x": 1}}, `
	for _, event := range []string{
		`{"ph": "X", "cat": "cpu_op", "name": "a\"b", "pid": 7, "tid": 7, "ts": 1.5, "dur": 2, "args": {"x": 1}}`,
		`{"ph": "X", "cat": "cpu_op", "name": "a", "pid": -7, "tid": "w", "ts": 1.5, "dur": 2, "args": {"x": 1}}`,
		`{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 7, "ts": 123456789012345678.1234567, "dur": 2e3, "args": {"x": 1}}`,
		`{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 12345678901234567, "tid": 123456789, "ts": 12345678.5, "dur": 1234567890123456, "args": {"x": [[1, "]"]]}}`,
		`{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 7, "ts": 1.5, "dur": 2, "args": {"x": {"y": "}"}}}`,
		`{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 7, "ts": 1.5, "dur": 2, "args": {"x": "1", "correlation": 9}}`,
		`{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 7, "tid": 7, "ts": 1.5, "dur": 2, "args": {"x": 1}}`,
		`{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 3, "ts": 1.5, "dur": 2, "args": {"stream": 4, "Collective name": "allreduce"}}`,
		`{"ph": "X", "cat": "Trace", "name": "}", "args": {"{": "\\"}}`, `{"ph": "i", "name": "}", "args": {"{": "\\"}}`,
		`{"name": "a", "ts": 1, "ph": "X", "cat": "cpu_op"}`, `{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 7, "ts": "x", "dur": 2}`,
	} {
		texts = append(texts, []byte("["+odd+event+", "+odd+event+", "+event+","+odd+odd+"]"))
	}
	for _, text := range texts {
		if diff := cmp.Diff(taken(t, text, false), taken(t, text, true)); diff != "" {
			t.Errorf("%.200s: member by member and along the tree:\n%s", text, diff)
		}
	}
}
