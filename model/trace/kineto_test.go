package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

const deviceCases = "../../testdata/accelerator/cases"

// kinetoEvents counts the calls and activities of a timeline.
func kinetoEvents(tl *timeline.Timeline) (calls, activities int) {
	for i := range tl.Locations {
		calls += tl.Locations[i].Calls.Len()
	}
	if tl.Devices != nil {
		for i := range tl.Devices.Streams {
			activities += tl.Devices.Streams[i].Len()
		}
	}
	return calls, activities
}

// TestKineto reads a small trace of two ranks, one of them packed, among other files.
func TestKineto(t *testing.T) {
	file := func(rank int) []byte {
		return []byte(fmt.Sprintf(`{"baseTimeNanoseconds": 1790857026000000000, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 7, "tid": 7, "ts": 10.250, "dur": 20.5, "args": {}},
{"ph": "X", "cat": "cuda_runtime", "name": "cuda\"Launch", "pid": 7, "tid": 7, "ts": 11, "dur": 4, "args": {"x": {"y": "}"}, "correlation": 5}},
{"ph": "s", "id": 5, "pid": 7, "tid": 7, "ts": 11, "cat": "ac2g", "name": "ac2g"},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 12.000001, "dur": 3, "args": {"device": 1, "stream": 9, "correlation": 5}},
{"ph": "X", "cat": "Trace", "name": "no call", "pid": "Spans", "tid": "x", "ts": 0, "dur": 99}
], "distributedInfo": {"rank": %d, "world_size": 2}}`, rank))
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(file(1)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{
		"run/b.json": {Data: file(0)}, "run/a.json.gz": {Data: packed.Bytes()}, "run/notes.json": {Data: []byte(`{"a": 1}`)}, "run/x.txt": {Data: []byte("x")},
	}
	tr, err := Open(fsys, "run", Options{Strict: true})
	if err != nil || tr.Format != "kineto" || tr.Ranks != 2 {
		t.Fatalf("%+v, %v", tr, err)
	}
	tl, err := ToTimeline(tr, TimelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := &tl.Devices.Streams[1]
	if len(tl.Devices.Streams) != 2 || s.Rank != 1 || s.Name != "1:9" || s.Begin[0] != 1_750_001*unit.Picosecond ||
		s.End[0]-s.Begin[0] != 3*unit.Microsecond {
		t.Errorf("streams: %+v", tl.Devices.Streams)
	}
	if name := tl.PathName(s.Path[0]); name != `host/ProfilerStep/cuda"Launch/Memcpy HtoD` || s.Kind[0] != timeline.Copy {
		t.Errorf("the copy is %s, a %v", name, s.Kind[0])
	}
	if calls, activities := kinetoEvents(tl); calls != 6 || activities != 2 {
		t.Errorf("%d calls and %d activities, want 6 and 2", calls, activities)
	}
	out := t.TempDir() + "/x.slt"
	if _, err := Write(out, tr, "slt", WriteOptions{}); err != nil {
		t.Errorf("it cannot be written: %v", err)
	}
}

// TestPartOfKineto reads parts of the ranks: as from a slackline trace of the run, with the clocks of the whole run, and without
// collectives that others have a part in.
func TestPartOfKineto(t *testing.T) {
	for _, c := range []string{"08-expert-imbalance", "09-process-groups", "12-clock-offset", "18-late-window", "22-common-steps"} {
		run := mustOpen(t, deviceCases+"/"+c+"/ranks")
		out := t.TempDir() + "/x.slt"
		if _, err := Write(out, run, "slt", WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		same := mustOpen(t, out)
		whole, err := ToTimeline(run, TimelineOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, ranks := range [][]int{{0}, {2}, {1, 2}} {
			var parts [2]*timeline.Timeline
			for i, tr := range []*Trace{run, same} {
				if parts[i], err = ToTimeline(tr, TimelineOptions{Ranks: ranks, Begin: 100 * unit.Microsecond}); err != nil {
					t.Fatalf("%s, ranks %v: %v", c, ranks, err)
				}
			}
			got, want := parts[0].Devices, parts[1].Devices
			if diff := gocmp.Diff(want.Streams, got.Streams); diff != "" {
				t.Errorf("%s, ranks %v: the activities differ: %s", c, ranks, diff)
			}
			if len(got.Collectives) != len(want.Collectives) || len(got.Messages) != len(want.Messages) || len(got.Members) != len(want.Members) {
				t.Errorf("%s, ranks %v: %d collectives and %d messages, want %d and %d", c, ranks, len(got.Collectives), len(got.Messages),
					len(want.Collectives), len(want.Messages))
			}
			for _, l := range parts[0].Locations {
				at := slices.IndexFunc(whole.Locations, func(x timeline.Location) bool { return x.Rank == l.Rank && x.Thread == l.Thread })
				if l.First != max(whole.Locations[at].First, 100*unit.Microsecond) || l.Last != whole.Locations[at].Last {
					t.Errorf("%s, ranks %v: %s of rank %d lasts from %v to %v, in the whole run from %v to %v", c, ranks, l.Name, l.Rank, l.First, l.Last,
						whole.Locations[at].First, whole.Locations[at].Last)
				}
			}
		}
	}
}

// TestKinetoCut cuts a file at every place: what is whole before the cut is read, and the cut is reported.
func TestKinetoCut(t *testing.T) {
	data, err := os.ReadFile(deviceCases + "/01-launch-bound/ranks/rank0.json")
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for n := 0; n < len(data)-3; n += 7 {
		tr, err := Open(fstest.MapFS{"rank0.json": {Data: data[:n]}}, "rank0.json", Options{})
		if err != nil {
			continue // nothing is there yet
		}
		tl, err := ToTimeline(tr, TimelineOptions{})
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		calls, activities := kinetoEvents(tl)
		if calls+activities < last {
			t.Fatalf("cut at %d: %d calls and activities, %d before", n, calls+activities, last)
		}
		last = calls + activities
		if len(tr.Warnings) == 0 || !strings.Contains(tr.Warnings[0], "truncated") {
			t.Fatalf("cut at %d: warnings %q", n, tr.Warnings)
		}
		if _, err := Open(fstest.MapFS{"rank0.json": {Data: data[:n]}}, "rank0.json", Options{Strict: true}); err == nil {
			t.Fatalf("cut at %d: it is read although that must be strict", n)
		}
	}
	if last < 10 {
		t.Errorf("%d calls and activities at the end", last)
	}
}

// FuzzKineto reads anything as a file of the profiler.
func FuzzKineto(f *testing.F) {
	paths, err := fs.Glob(os.DirFS(deviceCases), "*/ranks/*")
	if err != nil || len(paths) == 0 {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(deviceCases + "/" + path)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 40<<10 {
			f.Add(data)
		}
	}
	f.Add([]byte(`[{"ph":"X","cat":"kernel","ts":1e18,"dur":-1,"args":{"stream":-9,"Collective name":"send","Dst Rank":99999999999}}]`))
	f.Add([]byte(`{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"\u001b[31m","pid":"a","tid":{},"ts":"1","args":[1,{"b":"\\\""}]}],"distributedInfo":{"rank":4000000000}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := fstest.MapFS{"r/rank0.json": {Data: data}, "r/rank1.json": {Data: data}}
		tr, err := Open(fsys, "r", Options{})
		if err != nil || tr.Format != "kineto" {
			return
		}
		tl, err := ToTimeline(tr, TimelineOptions{})
		if err != nil {
			return
		}
		for i := range tl.Locations {
			c := &tl.Locations[i].Calls
			for k := range c.Enter {
				if c.Leave[k] < c.Enter[k] {
					t.Fatalf("call %d ends before it begins", k)
				}
			}
		}
		if tl.Devices == nil {
			return
		}
		for i := range tl.Devices.Streams {
			s := &tl.Devices.Streams[i]
			for k := 1; k < s.Len(); k++ {
				if s.Begin[k] < s.End[k-1] {
					t.Fatalf("activity %d begins before the one before it ends", k)
				}
			}
		}
	})
}

// BenchmarkKineto reads files of the profiler into a timeline. The rate is that of the fastest pass, memory the peak of the first one.
func BenchmarkKineto(b *testing.B) {
	for name, pattern := range map[string]string{
		"Stacks": `{"ph": "X", "cat": "python_function", "name": "train.py(%[1]d): step", "pid": 7, "tid": 7, "ts": 39503107%08[2]d.125, "dur": 0.250, "args": {"Python id": %[2]d, "Python parent id": 1, "Ev Idx": %[2]d}}`,
		"Kernels": `{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 39503107%08[2]d.250, "dur": 0.500, "args": {"cbid": 211, "correlation": %[2]d}},
{"ph": "s", "id": %[2]d, "pid": 7, "tid": 7, "ts": 39503107%08[2]d.250, "cat": "ac2g", "name": "ac2g"},
{"ph": "X", "cat": "kernel", "name": "gemm_%[1]d", "pid": 0, "tid": 7, "ts": 39503107%08[2]d.300, "dur": 0.600, "args": {"queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": %[2]d, "grid": [%[1]d, 1, 1], "block": [640, 1, 1]}},
{"ph": "f", "id": %[2]d, "pid": 0, "tid": 7, "ts": 39503107%08[2]d.300, "cat": "ac2g", "name": "ac2g", "bp": "e"}`,
	} {
		b.Run(name, func(b *testing.B) {
			const events = 400_000
			each := 1 + strings.Count(pattern, "\n")
			file, err := os.Create(b.TempDir() + "/rank0.json")
			if err != nil {
				b.Fatal(err)
			}
			out := bufio.NewWriter(file)
			fmt.Fprint(out, `{"traceEvents": [`)
			for i := range events / each {
				if i > 0 {
					fmt.Fprintln(out, ",")
				}
				fmt.Fprintf(out, pattern, i%100+1, i+1)
			}
			fmt.Fprint(out, "]}")
			if err := cmp.Or(out.Flush(), file.Close()); err != nil {
				b.Fatal(err)
			}
			before, peak := heldAtLeast(), int64(0)
			best := time.Duration(math.MaxInt64)
			for b.Loop() {
				start := time.Now()
				tr, err := Open(os.DirFS(filepath.Dir(file.Name())), "rank0.json", Options{Strict: true})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := ToTimeline(tr, TimelineOptions{}); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(start))
				if peak == 0 {
					peak = held() - before
				}
			}
			b.ReportMetric(events/best.Seconds()/1e6, "Mevents/s")
			b.ReportMetric(float64(peak)/events, "B/event")
		})
	}
}

// TestKinetoAgain makes the timeline of a trace several times. The first event of the file is not the earliest one.
func TestKinetoAgain(t *testing.T) {
	data := `{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "second", "pid": 7, "tid": 7, "ts": 100, "dur": 5},
{"ph": "X", "cat": "cpu_op", "name": "first", "pid": 7, "tid": 7, "ts": 10, "dur": 5}]}`
	tr, err := Open(fstest.MapFS{"a.json": {Data: []byte(data)}}, "a.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var last *timeline.Timeline
	for n := range 3 {
		if last, err = ToTimeline(tr, TimelineOptions{}); err != nil {
			t.Fatal(err)
		}
		at := last.Locations[0].Calls.Enter
		if last.Start != 0 || last.End != 95*unit.Microsecond || at[1] != 0 || at[2] != 90*unit.Microsecond {
			t.Errorf("timeline %d: from %v to %v, calls at %v, want 0, 95us and calls at 0 and 90us", n, last.Start, last.End, at)
		}
	}
	back, err := ToTimeline(FromTimeline(last), TimelineOptions{})
	if err != nil || back.Start != 0 || back.End != 95*unit.Microsecond {
		t.Errorf("from its events: %v, %v", back, err)
	}
}
