package waits

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

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
			if sum := u.Computing + u.Exposed + u.Waiting + u.Idle + u.Latency; sum != u.Span || u.Latency < 0 || u.Hidden < 0 {
				t.Errorf("%s: %+v sums up to %v", filepath.Base(dir), u, sum)
			}
			idle += u.Idle
			waiting += u.Waiting
		}
		for _, w := range r.Waits {
			switch {
			case w.Metric == deviceIdle.metric:
				idle -= w.Amount
			case w.Stream != "" && w.Metric != streamWait.metric:
				waiting -= w.Amount
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
			sum += c.Share
		}
		if sum != e.Amount || len(e.Text) == 0 {
			t.Errorf("%s: the causes of %s sum up to %v, want %v", name, r.Waits[k].Metric, sum, e.Amount)
		}
	}
	c := r.CriticalPath()
	if c.Length+c.Missing != r.Timeline.End-r.Timeline.Start {
		t.Errorf("%s: the critical path takes %v and lacks %v of %v", name, c.Length, c.Missing, r.Timeline.End-r.Timeline.Start)
	}
}
