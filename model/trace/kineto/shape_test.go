package kineto

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// TestTwice: a member that matters may be there twice, but not with two values, also along the tree.
func TestTwice(t *testing.T) {
	const event = `{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 3, "ts": 1.5, "dur": 2, `
	const sync = `{"ph": "X", "cat": "cuda_sync", "name": "k", "pid": 0, "tid": 3, "ts": 1.5, "dur": 2, `
	const comm = `{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 0, "tid": 3, "ts": 1.5, "dur": 2, `
	for _, c := range []struct{ key, event string }{
		{"", event + `"args": {"queued": 1, "queued": 2}, "id": 1, "id": 2}`}, // they do not matter
		{"pid", event + `"pid": %d}`},
		{"ts", event + `"ts": 1.5%d}`},
		{"stream", event + `"args": {"stream": 0, "stream": %d}}`},
		{"args", event + `"args": {"stream": 0}, "args": {"stream": %d}}`},
		{"stream", sync + `"args": {"correlation": 1, "stream": 0, "stream": %d}}`},
		{"Group size", comm + `"args": {"Group size": 0, "Group size": %d}}`},
		{"dtype", comm + `"args": {"dtype": "0", "dtype": "%d"}}`},
	} {
		same, other := strings.ReplaceAll(c.event, "%d", "0"), strings.ReplaceAll(c.event, "%d", "7")
		for how, text := range map[string]string{
			"the first one": "[" + other + "]", "a later one": "[" + same + ", " + same + ", " + other + "]",
		} {
			want := ""
			if c.key != "" {
				want = fmt.Sprintf("an event has the member %q twice, with two values", c.key)
			}
			if got := taken(t, []byte(text), true); want != "" && !strings.HasPrefix(got, want) || want == "" && !strings.HasPrefix(got, "<nil>") {
				t.Errorf("%s, %s: %s, want %s", how, other, got, want)
			}
		}
	}
}

// TestDistributedInfo: what a file says about its run and cannot be read is reported.
func TestDistributedInfo(t *testing.T) {
	for info, want := range map[string]string{
		`{"rank": 1, "world_size": 2}`:            "",
		`{"rank": "1"}`:                           "in/rank3.json: distributedInfo is not as expected: unexpected string for rank;",
		`{"rank": 1, "rank": 2}`:                  `in/rank3.json: distributedInfo is not as expected: line 1: the key "rank" is there twice`,
		`{"rank": 1}, "distributedInfo": {}`:      `in/rank3.json: byte 137: the member "distributedInfo" is there twice`,
		`{"rank": 1, "world_size": 1e400}`:        "in/rank3.json: distributedInfo is not as expected: unexpected number 1e400 for world_size;",
		`{"rank": 0}, "baseTimeNanoseconds": 1e9`: "in/rank3.json: byte 145: baseTimeNanoseconds is not a number",
	} {
		f, err := readFile(strings.NewReader(`{"traceEvents": [{"ph":"X","cat":"cpu_op","pid":1,"tid":1,"name":"a","ts":1,"dur":1}], "distributedInfo": `+info+"}"), "rank3.json", "in/rank3.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		k := &Profile{files: []*rankFile{f}}
		k.setRanks()
		_ = k.check()
		if got := strings.Join(k.Warnings, "; "); (want == "") != (got == "") || want != "" && !strings.Contains(got, want) {
			t.Errorf("%s: warnings %q, want %q", info, got, want)
		}
	}
}

// TestOddEvents: events that lack what all have are counted, also along the tree.
func TestOddEvents(t *testing.T) {
	const event = `{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 3, "ts": 1.5, "dur": 2, "args": {"stream": 7, "correlation": 9}}`
	for _, c := range []struct{ from, to, want string }{
		{`"k"`, `"l"`, ""},
		{`"kernel"`, `"ac2g"`, ""},
		{`"kernel"`, `"karnel"`, `3 events have an unknown category and are left out; the first one is "karnel"`},
		{`"cat": "kernel", `, ``, `3 events have an unknown category and are left out; the first one is ""`},
		{`"ph": "X", `, ``, "3 events have no known kind (ph) and are left out"},
		{`"X"`, `"x"`, "3 events have no known kind (ph) and are left out"},
		{`"tid"`, `"tie"`, "3 events name no process or no thread (pid, tid), and are taken for those of another one"},
		{`"pid": 0`, `"pid": null`, "3 events name no process or no thread (pid, tid), and are taken for those of another one"},
		{`"name"`, `"nane"`, "3 events have no name"},
		{`"k"`, `""`, "3 events have no name"},
		{`"k"`, `{}`, "3 events have no name"},
		{`, "dur": 2`, ``, "3 events have no duration (dur), which is taken to be 0"},
		{`"correlation": 9`, `"correlation": 1e308`, "3 events have a correlation, device or stream that is not a number"},
		{`"stream": 7`, `"stream": null`, ""},
		{`"args"`, `"argx"`, "3 events of devices have neither correlation nor device nor stream (args): what launched them is not known"},
	} {
		odd := strings.Replace(event, c.from, c.to, 1)
		f, err := readFile(strings.NewReader("["+strings.Join([]string{event, odd, event, odd, odd}, ",")+"]"), "x", "x", nil)
		if err != nil || f.damage != nil {
			t.Fatal(err, f.damage)
		}
		if got := strings.Join(f.odd.notes(), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.to, got, c.want)
		}
	}
}
