package kineto

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// readTraceFiles reads files of trace events: a.json, b.json and so on.
func readTraceFiles(files ...string) (*Profile, error) {
	fsys := fstest.MapFS{}
	var names []string
	for i, text := range files {
		name := fmt.Sprintf("%c.json", 'a'+i)
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
		names = append(names, name)
	}
	return ReadChrome(fsys, ".", names, func(name string) string { return "in/" + name }, nil)
}

// list is a file of a list of events.
func list(events ...string) string { return "[" + strings.Join(events, ",\n") + "]" }

// begin, end and whole are events of Chrome; pid and tid are written as they are given.
func begin(pid, tid any, name string, ts float64) string {
	return fmt.Sprintf(`{"ph": "B", "pid": %v, "tid": %v, "ts": %v, "name": %q}`, pid, tid, ts, name)
}

func end(pid, tid any, ts float64) string {
	return fmt.Sprintf(`{"ph": "E", "pid": %v, "tid": %v, "ts": %v}`, pid, tid, ts)
}

func whole(pid, tid any, name string, ts, dur float64) string {
	return fmt.Sprintf(`{"ph": "X", "pid": %v, "tid": %v, "ts": %v, "dur": %v, "name": %q}`, pid, tid, ts, dur, name)
}

func named(pid any, name string) string {
	return fmt.Sprintf(`{"ph": "M", "pid": %v, "name": "process_name", "args": {"name": %q}}`, pid, name)
}

func sortedAt(pid any, index int) string {
	return fmt.Sprintf(`{"ph": "M", "pid": %v, "name": "process_sort_index", "args": {"sort_index": %d}}`, pid, index)
}

// TestChromeCalls: pairs and whole events are calls of their threads, nested by their times.
func TestChromeCalls(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   []string
	}{
		{"a pair in a pair", []string{begin(1, 1, "a", 10), begin(1, 1, "b", 12), end(1, 1, 13), end(1, 1, 20)},
			[]string{"0 master: /a 0-10us", "0 master: /a/b 2us-3us"}},
		{"a pair and a whole event", []string{begin(1, 1, "a", 10), whole(1, 1, "b", 12, 1), end(1, 1, 20)},
			[]string{"0 master: /a 0-10us", "0 master: /a/b 2us-3us"}},
		{"the first event is not the earliest", []string{whole(1, 1, "late", 20, 5), whole(1, 1, "early", 10, 5)},
			[]string{"0 master: /early 0-5us", "0 master: /late 10us-15us"}},
		{"an end without a start", []string{end(1, 1, 1), whole(1, 1, "a", 10, 5)}, []string{"0 master: /a 0-5us"}},
		{"a start without an end lasts until the end of the file", []string{begin(1, 1, "open", 10), whole(1, 2, "other", 11, 20)},
			[]string{"0 master: /open 0-21us", "0 thread 2: /other 1us-21us"}},
		{"no duration", []string{`{"ph": "X", "pid": 1, "tid": 1, "ts": 5, "name": "a"}`, whole(1, 1, "b", 6, 1)},
			[]string{"0 master: /a 0-0", "0 master: /b 1us-2us"}},
		{"picoseconds", []string{whole(1, 1, "a", 0.000001, 0.000002), whole(1, 1, "b", 1.5, 0.25)},
			[]string{"0 master: /a 0-2ps", "0 master: /b 1.499999us-1.749999us"}},
		{"ids that are words", []string{whole(`"host"`, `"worker"`, "a", 1, 1), whole(`"host"`, `"worker"`, "b", 3, 1)},
			[]string{"0 master: /a 0-1us", "0 master: /b 2us-3us"}},
		{"the thread of the process comes first", []string{whole(5, 9, "other", 1, 1), whole(5, 5, "own", 2, 1)},
			[]string{"0 master: /own 1us-2us", "0 thread 9: /other 0-1us"}},
		{"calls of MPI", []string{whole(1, 1, "MPI_Send", 1, 1)}, []string{"0 master: /MPI_Send 0-1us"}},
	} {
		p, err := readTraceFiles(list(c.events...))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := described(t, p, 1); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestChromeRanks: the numbers in the names of all processes are their ranks, or else they follow each other.
func TestChromeRanks(t *testing.T) {
	run := func(pids ...int) (events []string) {
		for _, pid := range pids {
			events = append(events, whole(pid, 1, fmt.Sprint("p", pid), 1, 1))
		}
		return events
	}
	for _, c := range []struct {
		name  string
		files []string
		want  []string // rank and call
	}{
		{"by pid", []string{list(run(30, 10, 20)...)}, []string{"0 p10", "1 p20", "2 p30"}},
		{"by sort index", []string{list(append(run(30, 10, 20), sortedAt(30, -1), sortedAt(20, 5))...)}, []string{"0 p30", "1 p10", "2 p20"}},
		{"by name", []string{list(append(run(1, 2), named(1, "rank 3"), named(2, "MPI Rank: 1"))...)}, []string{"1 p2", "3 p1"}},
		{"one name has no number", []string{list(append(run(1, 2), named(1, "rank 3"), named(2, "main"))...)}, []string{"0 p1", "1 p2"}},
		{"two have the same", []string{list(append(run(1, 2), named(1, "rank 3"), named(2, "rank 3"))...)}, []string{"0 p1", "1 p2"}},
		{"too large a number", []string{list(append(run(1, 2), named(1, "rank 65536"), named(2, "rank 0"))...)}, []string{"0 p1", "1 p2"}},
		{"the largest one", []string{list(append(run(1), named(1, "worker65535"))...)}, []string{"65535 p1"}},
		{"processes without calls are none", []string{list(append(run(2), named(1, "rank 0"), named(2, "rank 1"))...)}, []string{"1 p2"}},
		{"a file for each", []string{list(run(4)...), list(run(4)...)}, []string{"0 p4", "1 p4"}},
	} {
		p, err := readTraceFiles(c.files...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, f := range p.files {
			got = append(got, fmt.Sprint(f.rank, " ", f.names[f.calls.at(0).name]))
		}
		if !slices.Equal(got, c.want) || p.Ranks != p.files[len(p.files)-1].rank+1 {
			t.Errorf("%s: %q of %d ranks, want %q", c.name, got, p.Ranks, c.want)
		}
	}
}

// TestChromeDamage: a damaged file gives what comes before, with a warning that names the byte; one without calls is none.
func TestChromeDamage(t *testing.T) {
	event := whole(1, 1, "a", 1, 1)
	for _, c := range []struct {
		name, text string
		calls      int
		warning    string
		err        string
	}{
		{"a list without its end", "[" + event + ",", 1, "", ""},
		{"a list that ends in an event", "[" + event + "," + event[:20], 1, "in/a.json: byte %d: the file ends in the middle", ""},
		{"an object without its end", `{"traceEvents": [` + event, 1, "in/a.json: byte %d: the file ends in the middle", ""},
		{"something else", "[" + event + ", 5]", 1, `in/a.json: byte %d: expected an event, got '5'`, ""},
		{"an earlier end", "[" + strings.Join([]string{event, begin(1, 2, "b", 9), end(1, 2, 8), event}, ",") + "]", 2,
			"in/a.json: byte %d: an event (ph E) is earlier than the one before it of its thread; sort B and E events by their time (ts)", ""},
		{"no events", "[]", 0, "", "in/a.json: there is no call in the trace: neither a complete event (ph X) nor a start (ph B)"},
		{"nothing", "", 0, "", "in/a.json: byte 0: the file ends in the middle: it is truncated"},
		{"only ends", list(end(1, 1, 5)), 0, "", "in/a.json: there is no call in the trace"},
		{"times that are none", list(event, whole(1, 1, "b", -1, -1), `{"ph": "X", "pid": 1, "tid": 1, "ts": "x"}`,
			`{"ph": "B", "pid": 1, "tid": 1}`), 1, "in/a.json: 3 events have no valid time and are left out", ""},
		{"times that are not JSON", list(event, `{"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": 007, "dur": 1}`,
			`{"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": 7., "dur": 1}`), 1, "in/a.json: 2 events have no valid time and are left out", ""},
		{"a process that is none", list(event, `{"ph": "X", "pid": NaN, "tid": 1, "name": "a", "ts": 7, "dur": 1}`), 1,
			`in/a.json: byte %d: "NaN" is not the number of a process or thread`, ""},
		{"a thread that is none", list(event, `{"ph": "X", "pid": 1, "tid": {}, "name": "a", "ts": 7, "dur": 1}`), 1,
			`in/a.json: byte %d: "{}" is not the number of a process or thread`, ""},
		{"a process without bounds", list(event, `{"ph": "X", "pid": 1e400, "tid": 1, "name": "a", "ts": 7, "dur": 1}`), 1,
			`in/a.json: byte %d: "1e400" is not the number of a process or thread`, ""},
		{"a thread out of range", list(event, `{"ph": "B", "pid": 1, "tid": 18446744073709551616, "name": "a", "ts": 7}`), 1,
			`in/a.json: byte %d: "18446744073709551616" is not the number of a process or thread`, ""},
		{"half a thread", list(event, `{"ph": "i", "pid": 1, "tid": 1.5, "name": "a", "ts": 7}`), 1,
			`in/a.json: byte %d: "1.5" is not the number of a process or thread`, ""},
		{"a member twice", list(event, `{"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": 7, "dur": 1, "ts": 8}`), 1,
			`in/a.json: byte %d: an event has the member "ts" twice, with two values`, ""},
		{"a name twice", list(event, `{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "rank 0", "name": "rank 1"}}`), 1,
			`in/a.json: byte %d: an event has the member "name" twice, with two values`, ""},
		{"the same twice", list(event, `{"ph": "X", "pid": 1.0, "tid": 1, "tid": 1, "name": "a", "ts": 7, "dur": 1}`), 2, "", ""},
		{"no thread", list(event, `{"ph": "X", "pid": 1, "tie": 1, "name": "a", "ts": 7, "dur": 1}`), 2,
			"in/a.json: 1 events name no process or no thread (pid, tid)", ""},
		{"no threads at all", list(`{"ph": "X", "pid": 1, "name": "a", "ts": 7, "dur": 1}`), 1, "", ""},
		{"no kind", list(event, `{"phi": "X", "pid": 1, "tid": 1, "name": "a", "ts": 7, "dur": 1}`), 1,
			"in/a.json: 1 events have no known kind (ph) and are left out", ""},
		{"no duration", list(event, `{"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": 7, "dir": 1}`), 2,
			"in/a.json: 1 events have no duration (dur), which is taken to be 0", ""},
		{"no name", list(event, `{"ph": "X", "pid": 1, "tid": 1, "nane": "a", "ts": 7, "dur": 1}`, `{"ph": "E", "pid": 1, "tid": 1, "ts": 9}`), 2,
			"in/a.json: 1 events have no name", ""},
		{"two lists", `{"traceEvents": [` + event + `], "traceEvents": [` + event + `]}`, 1,
			`in/a.json: byte %d: the member "traceEvents" is there twice`, ""},
		{"two traces", list(event) + list(event), 1, `in/a.json: byte %d: unexpected '[' after the end of the trace`, ""},
		{"two objects", `{"traceEvents": [` + event + `]}{}`, 1, `in/a.json: byte %d: unexpected '{' after the end of the trace`, ""},
		{"times that are far", list(event, `{"ph": "X", "pid": 1, "tid": 1, "ts": 1e17, "dur": 1}`,
			`{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1e17}`), 1, "in/a.json: 2 events have no valid time and are left out", ""},
	} {
		p, err := readTraceFiles(c.text)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := p.files[0].calls.len(); got != c.calls {
			t.Errorf("%s: %d calls, want %d", c.name, got, c.calls)
		}
		want := c.warning
		if before, after, ok := strings.Cut(want, "%d"); ok { // damage is where the reader stood: not before the first event, not after the end
			want = before
			if len(p.Warnings) == 1 && !strings.Contains(p.Warnings[0], after) {
				t.Errorf("%s: warning %q, want %q", c.name, p.Warnings[0], after)
			}
		}
		if (want == "") != (len(p.Warnings) == 0) || want != "" && !strings.HasPrefix(p.Warnings[0], want) {
			t.Errorf("%s: warnings %q, want %q", c.name, p.Warnings, c.warning)
		}
	}
}

// TestChromeProcesses: a file may have 1024 processes, not more.
func TestChromeProcesses(t *testing.T) {
	for _, n := range []int{maxProcesses, maxProcesses + 1} {
		var events []string
		for pid := range n {
			events = append(events, whole(pid, 1, "f", float64(pid), 1))
		}
		p, err := readTraceFiles(list(events...))
		if err != nil {
			t.Fatal(err)
		}
		if warned := len(p.Warnings) == 1 && strings.Contains(p.Warnings[0], "there are more than 1024 processes; split the file"); p.Ranks !=
			maxProcesses || warned != (n > maxProcesses) {
			t.Errorf("%d processes: %d ranks, warnings %q", n, p.Ranks, p.Warnings)
		}
	}
}

// TestChromeInterrupt: what interrupts the reading is returned as it is.
func TestChromeInterrupt(t *testing.T) {
	stop := errors.New("stop")
	fsys := fstest.MapFS{"a.json": {Data: []byte(list(whole(1, 1, "a", 1, 1)))}}
	show := func(name string) string { return name }
	if _, err := ReadChrome(fsys, ".", []string{"a.json"}, show, func() error { return stop }); err != stop {
		t.Errorf("interrupted: %v, want %v", err, stop)
	}
	if _, err := Read(fsys, ".", []string{"a.json"}, show, func() error { return stop }); err != stop {
		t.Errorf("interrupted: %v, want %v", err, stop)
	}
	if _, err := ReadChrome(fsys, ".", []string{"b.json"}, show, nil); err == nil || !strings.Contains(err.Error(), "b.json") {
		t.Errorf("a file that is not there: %v", err)
	}
}
