package waits

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/analyze/devices"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
)

// deviceCases are the reference cases with accelerators: the directory with the trace of each, and its name there.
func deviceCases(t *testing.T) (dirs, names []string) {
	t.Helper()
	wants, err := filepath.Glob("../../testdata/accelerator/cases/*/want.json")
	if err != nil || len(wants) != 22 {
		t.Fatalf("%d reference cases, want 22: %v", len(wants), err)
	}
	for _, want := range wants {
		dirs, names = append(dirs, filepath.Dir(want)), append(names, "ranks")
		if _, err := os.Stat(filepath.Join(filepath.Dir(want), "traces.otf2")); err == nil {
			names[len(names)-1] = "traces.otf2"
		}
	}
	return dirs, names
}

// readDeviceCase reads a reference case with accelerators.
func readDeviceCase(t *testing.T, dir, name string) *timeline.Timeline {
	t.Helper()
	tr, err := trace.Open(os.DirFS(dir), name, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return timelineOf(t, tr)
}

func TestDeviceCases(t *testing.T) {
	dirs, names := deviceCases(t)
	for i, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, "want.json"))
			if err != nil {
				t.Fatal(err)
			}
			want := &wanted{}
			if err := json.Unmarshal(data, want); err != nil {
				t.Fatal(err)
			}
			r := analyze(t, readDeviceCase(t, dir, names[i]), 2)
			compareCase(t, r, want)
			checkLaws(t, dir, r)
			compareStreams(t, r, data)
		})
	}
}

// compareStreams checks that waits are named by the right streams.
func compareStreams(t *testing.T, r *Result, data []byte) {
	t.Helper()
	var want struct {
		Waits []struct {
			Metric, CallPath, Stream string
			Rank                     int
		}
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, w := range want.Waits {
		seen[fmt.Sprintln(w.Metric, w.Rank, w.CallPath, w.Stream)]++
	}
	for i := range r.Waits {
		w := &r.Waits[i]
		seen[fmt.Sprintln(w.Metric, w.Rank, r.Paths.Names[w.Path], w.Stream)]--
	}
	for key, n := range seen {
		if n != 0 {
			t.Errorf("%s: wanted %+d more", key, n)
		}
	}
}

// TestDeviceThreads checks that results do not depend on the number of threads.
func TestDeviceThreads(t *testing.T) {
	dirs, names := deviceCases(t)
	for i, dir := range dirs {
		want := summary(analyze(t, readDeviceCase(t, dir, names[i]), 1))
		for _, threads := range []int{2, 5} {
			if diff := cmp.Diff(want, summary(analyze(t, readDeviceCase(t, dir, names[i]), threads))); diff != "" {
				t.Errorf("%s: %d threads (-want +got):\n%s", filepath.Base(dir), threads, diff)
			}
		}
	}
}

// TestDeviceUse checks that the parts of the time of a device sum up to all of it, exactly, and that its waits are in them.
func TestDeviceUse(t *testing.T) {
	dirs, names := deviceCases(t)
	for i, dir := range dirs {
		r := analyze(t, readDeviceCase(t, dir, names[i]), 1)
		idle, waiting := unit.Duration(0), unit.Duration(0)
		for _, u := range r.Devices {
			if sum := u.Computing + u.Exposed + u.Waiting + u.Idle + u.Latency; sum != u.Span || u.Latency < 0 || u.Hidden.Sign() < 0 {
				t.Errorf("%s: %+v sums up to %v", filepath.Base(dir), u, sum)
			}
			idle += u.Idle
			waiting += u.Waiting
		}
		for _, w := range r.Waits {
			switch {
			case w.Metric == deviceIdle.metric:
				idle -= w.Amount.Duration()
			case w.Stream != "" && w.Metric != streamWait.metric:
				waiting -= w.Amount.Duration()
			}
		}
		if idle != 0 || waiting != 0 || len(r.Devices) == 0 {
			t.Errorf("%s: devices idle %v and wait %v more than the wait states", filepath.Base(dir), idle, waiting)
		}
	}
}

// TestDeviceExplanations checks that the causes of every wait sum up to it, and that the critical path is as long as the run.
func TestDeviceExplanations(t *testing.T) {
	dirs, names := deviceCases(t)
	for i, dir := range dirs {
		checkExplanations(t, filepath.Base(dir), analyze(t, readDeviceCase(t, dir, names[i]), 2))
	}
}

func checkExplanations(t *testing.T, name string, r *Result) {
	t.Helper()
	for k := range r.Waits {
		e := r.Explain(&r.Waits[k])
		sum := unit.Duration(0)
		for _, c := range e.Causes {
			sum += c.Share.Duration()
		}
		if sum != e.Amount.Duration() || len(e.Text) == 0 {
			t.Errorf("%s: the causes of %s sum up to %v, want %v", name, r.Waits[k].Metric, sum, e.Amount)
		}
	}
	c := r.CriticalPath()
	if c.Length+c.Missing != r.Timeline.End-r.Timeline.Start {
		t.Errorf("%s: the critical path takes %v and lacks %v of %v", name, c.Length, c.Missing, r.Timeline.End-r.Timeline.Start)
	}
}

// TestDevicesWritten checks that a run with streams that is written as a trace and read back has the same waits, causes and devices, to the
// picosecond: the reference cases, and random programs.
func TestDevicesWritten(t *testing.T) {
	dirs, names := deviceCases(t)
	for i, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			tr, err := trace.Open(os.DirFS(dir), names[i], trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkWritten(t, timelineOf(t, tr), tr)
		})
	}
	for seed := range uint64(40) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			tl := newDevicePlayer(seed).play(20 + int(seed%60))
			checkWritten(t, tl, trace.FromTimeline(tl))
		})
	}
}

func checkWritten(t *testing.T, want *timeline.Timeline, tr *trace.Trace) {
	t.Helper()
	r := analyze(t, want, 1)
	between := func(r *Result) map[string]unit.Duration { // waits of threads for other ranks
		sums := map[string]unit.Duration{}
		for _, w := range r.Waits {
			if w.Stream == "" && w.Metric != hostWait.metric {
				sums[fmt.Sprintln(w.Metric, w.Rank, r.Paths.Names[w.Path])] = w.Amount.Duration()
			}
		}
		return sums
	}
	if diff := cmp.Diff(between(r), between(analyze(t, timelineOf(t, trace.FromTimeline(want)), 1))); diff != "" {
		t.Errorf("streams as threads: waits of threads (-want +got):\n%s", diff)
	}
	for _, format := range []string{"slt", "trace-text", "otf2"} {
		dir := t.TempDir()
		name := map[string]string{"slt": "run.slt", "trace-text": "run.trace", "otf2": "run.otf2"}[format]
		if _, err := trace.Write(filepath.Join(dir, name), tr, format, trace.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		back, err := trace.Open(os.DirFS(dir), name, trace.Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		got := analyze(t, timelineOf(t, back), 1)
		if diff := cmp.Diff(summary(r), summary(got)); diff != "" {
			t.Errorf("%s: waits (-want +got):\n%s", format, diff)
		}
		if diff := cmp.Diff(r.Devices, got.Devices); diff != "" {
			t.Errorf("%s: devices (-want +got):\n%s", format, diff)
		}
		times := func(r *Result) (list []string) {
			for _, a := range devices.Times(r.Timeline, r.Paths) {
				list = append(list, fmt.Sprintln(a.CallPath, a.Kind, a.Count, a.Time, a.Worst, a.Most))
			}
			slices.Sort(list)
			return list
		}
		if diff := cmp.Diff(times(r), times(got)); diff != "" {
			t.Errorf("%s: profile (-want +got):\n%s", format, diff)
		}
	}
}
