package trace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func chromeSample(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/chrome/two.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// chromeText returns files of trace events as text, what was warned of, and what was noted.
func chromeText(t *testing.T, files fstest.MapFS, name string) (text string, warnings, notes []string) {
	t.Helper()
	tr, err := Open(files, name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Format != "chrome" {
		t.Fatalf("format %s, want chrome", tr.Format)
	}
	var b bytes.Buffer
	if _, err := textFormat.Stream(&b, tr, WriteOptions{Partial: true}); err != nil {
		t.Fatal(err)
	}
	tl, err := ToTimeline(tr, TimelineOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), tr.Warnings, tl.Problems.Notes
}

// TestChrome compares a file with what it means: complete events and pairs, names of processes and threads, times to the picosecond; and
// what is left out.
func TestChrome(t *testing.T) {
	want, err := os.ReadFile("testdata/chrome/two.txt")
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(chromeSample(t)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"two.json": chromeSample(t), "two.json.gz": packed.Bytes()} {
		got, warnings, notes := chromeText(t, fstest.MapFS{name: {Data: data}}, name)
		if got != string(want) {
			t.Errorf("got\n%s", got)
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0], name+": 1 events have no valid time") {
			t.Errorf("warnings %q", warnings)
		}
		for _, note := range []string{"1 counter value left out", "1 end (ph E) left out", "1 call without an end (ph E)"} {
			if !strings.Contains(strings.Join(notes, "\n"), note) {
				t.Errorf("notes %q lack %q", notes, note)
			}
		}
	}
}

// TestChromeList reads a list without its end, which is fine, and a directory with a file for each process.
func TestChromeList(t *testing.T) {
	event := func(pid int) string {
		return fmt.Sprintf(`{"ph": "X", "pid": %d, "tid": 1, "ts": %d, "dur": 2, "name": "work"}`, pid, 10+pid)
	}
	text, warnings, _ := chromeText(t, fstest.MapFS{"list.json": {Data: []byte("[\n" + event(4) + ",\n" + event(3) + ",\n")}}, "list.json")
	if len(warnings) != 0 || !strings.Contains(text, "rank 0") || !strings.Contains(text, "rank 1") {
		t.Errorf("warnings %q of\n%s", warnings, text)
	}
	files := fstest.MapFS{
		"run/trace-rank1.json": {Data: []byte("[" + event(7) + "]")}, "run/trace-rank0.json": {Data: []byte("[" + event(8) + "]")},
		"run/other.json": {Data: []byte(`{"a": 1}`)},
	}
	tr, err := Open(files, "run", Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	tl, err := ToTimeline(tr, TimelineOptions{Threads: 1})
	if err != nil || tl.Ranks != 2 || tl.Locations[1].Calls.Enter[0] != 0 || tl.Locations[0].Calls.Enter[0] != 1_000_000 {
		t.Fatalf("%v: %+v", err, tl)
	}
}

// TestChromeCrossed: ends that do not fit the call that was begun last, and calls that go on after the one around them, are told; the rank
// is incomplete if that changes its times.
func TestChromeCrossed(t *testing.T) {
	event := func(phase, name string, at int, more string) string {
		if name != "" {
			more += fmt.Sprintf(`, "name": %q`, name)
		}
		return fmt.Sprintf(`{"ph": %q, "pid": 1, "tid": 1, "ts": %d%s}`, phase, at, more)
	}
	for name, c := range map[string]struct {
		events     []string
		want       string // the calls of the only thread
		warning    string
		incomplete int
	}{
		"in order": {[]string{event("B", "a", 0, ""), event("B", "b", 2, ""), event("E", "b", 3, ""), event("E", "", 9, "")},
			"0 a { 2000..3000 b } 9000", "", 0},
		"the inner end is missing": {[]string{event("B", "a", 0, ""), event("B", "b", 2, ""), event("E", "a", 5, ""), event("X", "c", 6, `, "dur": 1`)},
			"0 a { 2000..5000 b } 5000 6000..7000 c", "1 end (ph E) with another name", 1},
		"of no open call": {[]string{event("B", "a", 0, ""), event("E", "z", 5, ""), event("E", "a", 9, "")},
			"0..9000 a", "1 end (ph E) with another name", 1},
		"rounded": {[]string{event("X", "a", 0, `, "dur": 10`), event("X", "b", 5, `, "dur": 6`)}, "0 a { 5000..10000 b } 10000", "", 0},
		"little": {[]string{event("X", "a", 0, `, "dur": 1000`), event("X", "b", 995, `, "dur": 10`), event("X", "c", 2000, `, "dur": 1`)},
			"0 a { 995000..1000000 b } 1000000 2000000..2001000 c", "1 call of rank 0 went on", 0},
		"much": {[]string{event("X", "a", 0, `, "dur": 10`), event("X", "b", 5, `, "dur": 1000`)},
			"0 a { 5000..10000 b } 10000", "together 995us", 1},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{"run.json": {Data: []byte("[" + strings.Join(c.events, ",") + "]")}}
			text, _, _ := chromeText(t, files, "run.json")
			tr, err := Open(files, "run.json", Options{})
			if err != nil {
				t.Fatal(err)
			}
			tl, err := ToTimeline(tr, TimelineOptions{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			_, calls, _ := strings.Cut(text, "rank 0 name master")
			calls = strings.TrimSpace(strings.TrimPrefix(calls, " truncated"))
			if got := strings.Join(strings.Fields(calls), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			said := strings.Join(append(slices.Clone(tr.Warnings), tr.Notes...), "\n")
			if (c.warning == "") != (said == "") || !strings.Contains(said, c.warning) {
				t.Errorf("warned of %q, want %q", said, c.warning)
			}
			if m := tl.Missing(); m.Ranks != c.incomplete {
				t.Errorf("%d incomplete ranks, want %d", m.Ranks, c.incomplete)
			}
		})
	}
}

// TestChromeOrKineto wants files of the PyTorch profiler to be those, whatever they begin with.
func TestChromeOrKineto(t *testing.T) {
	for text, want := range map[string]string{
		`{"traceEvents": [{"ph": "X", "cat": "app", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}`:          "chrome",
		`{"traceEvents": [{"ph": "X", "cat" :"cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}`:       "kineto",
		`{"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}`:    "kineto",
		`[{"args": {"name": "x"}, "ph": "M", "pid": 1}, {"ph": "X", "cat": "app", "pid": 1, "tid": 1, "ts": 1}]`:    "chrome",
		`[{"args": {"name": "x"}, "ph": "M", "pid": 1}, {"ph": "X", "cat": "kernel", "pid": 1, "tid": 1, "ts": 1}]`: "kineto",
	} {
		f, ok := sniff([]byte(text))
		if !ok || f.Name != want {
			t.Errorf("%s is taken for %q, want %s", text, f.Name, want)
		}
	}
}

// TestChromeDamaged wants what comes before the damage, and a place.
func TestChromeDamaged(t *testing.T) {
	whole := string(chromeSample(t))
	for name, c := range map[string]struct{ old, new, want string }{
		"syntax":   {`{"name": "solve", "ph": "E"`, `{name: "solve", "ph": "E"`, `expected the name of a member, got 'n'`},
		"order":    {`"tid": 70, "ts": 1018`, `"tid": 70, "ts": 1014`, "sort B and E events by their time"},
		"no event": {`{"ph": "E", "pid": 70, "tid": 70, "ts": 1021}`, `7`, `expected an event, got '7'`},
		"cut":      {whole[strings.Index(whole, `"ts": 1021`):], "", "truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(whole, c.old) {
				t.Fatalf("no %q in the sample", c.old)
			}
			files := fstest.MapFS{"two.json": {Data: []byte(strings.Replace(whole, c.old, c.new, 1))}}
			text, warnings, _ := chromeText(t, files, "two.json")
			if got := strings.Join(warnings, "\n"); !strings.Contains(got, c.want) || !strings.Contains(got, "two.json: byte ") {
				t.Errorf("warnings %q, want %q and a place", got, c.want)
			}
			if !strings.Contains(text, "MPI_Barrier") {
				t.Errorf("what comes before is missing:\n%s", text)
			}
			if _, err := Open(files, "two.json", Options{Strict: true}); err == nil {
				t.Error("strict: no error")
			}
		})
	}
	for text, want := range map[string]string{
		`{"traceEvents": []}`: "there is no call in the trace", `{"traceEvents": [`: "truncated", `[{"ph": "M"}`: "there is no call in the trace",
	} {
		if _, err := Open(fstest.MapFS{"x.json": {Data: []byte(text)}}, "x.json", Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestChromeBounded wants a limit of what a small file with many processes takes.
func TestChromeBounded(t *testing.T) {
	var text bytes.Buffer
	text.WriteString("[")
	for i := range 100_000 {
		fmt.Fprintf(&text, `{"ph": "X", "pid": %d, "tid": 1, "ts": 1, "dur": 2, "name": "a"},`, i)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tr, err := Open(fstest.MapFS{"x.json": {Data: text.Bytes()}}, "x.json", Options{})
	runtime.ReadMemStats(&after)
	if err != nil || len(tr.Warnings) != 1 || !strings.Contains(tr.Warnings[0], "more than 1024 processes") {
		t.Fatalf("%v, %q", err, tr.Warnings)
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 512 {
		t.Errorf("%d MiB for a file of %d MiB", used, text.Len()>>20)
	}
}

func FuzzChrome(f *testing.F) {
	f.Add(chromeSample(f))
	f.Add([]byte(`[{"ph": "B", "pid": "a", "tid": null, "ts": 1e3, "name": "\ud800"}, {"ph": "E", "pid": "a", "ts": 2000.5}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzOpen(t, fstest.MapFS{"x.json": {Data: data}}, "x.json", "slt")
	})
}

// BenchmarkChrome reads pairs of events of eight processes up to the timeline.
func BenchmarkChrome(b *testing.B) {
	const pairs = 200_000
	var text bytes.Buffer
	text.WriteString("[")
	for i := range pairs {
		pid, at := i%8, 10*(i/8)
		fmt.Fprintf(&text, `{"name": "step", "cat": "app", "ph": "B", "pid": %d, "tid": %d, "ts": %d.25},`+"\n", pid, pid, at)
		fmt.Fprintf(&text, `{"ph": "E", "pid": %d, "tid": %d, "ts": %d.5},`+"\n", pid, pid, at+5)
	}
	files := fstest.MapFS{"x.json": {Data: text.Bytes()}}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		tr, err := Open(files, "x.json", Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ToTimeline(tr, TimelineOptions{Threads: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(2*pairs*b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
