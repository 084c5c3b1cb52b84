package input

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/analyze/replay"
)

const cases = "../../testdata/waits/cases"

func TestOpenRecordedRun(t *testing.T) {
	for _, word := range []string{cases + "/01-figure3/traces.otf2", cases + "/01-figure3"} {
		if !IsTrace(word) || !IsFile(word) || isSchedule(word) {
			t.Errorf("%s: trace %v, file %v, schedule %v", word, IsTrace(word), IsFile(word), isSchedule(word))
		}
		in, err := Open(t.Context(), word, Options{Replay: replay.Options{Ranks: 6}, Hash: true})
		if err != nil {
			t.Fatal(err)
		}
		if in.Replay == nil || in.Graph != nil || !in.IsFile() || in.Program.Ranks() != 6 || in.Format != "otf2" || in.Record.Kind != "otf2" {
			t.Errorf("%s: %+v", word, in)
		}
		if in.Record.SHA256 == "" || in.Record.Bytes < 500 { // of all its files
			t.Errorf("%s: record %+v", word, in.Record)
		}
	}
	if _, err := Open(t.Context(), cases+"/01-figure3/traces.otf2", Options{Replay: replay.Options{Ranks: 7}}); err == nil ||
		!strings.HasPrefix(err.Error(), cases+"/01-figure3/traces.otf2: a run of 3 ranks") {
		t.Errorf("error %v", err)
	}
}

func TestWhatIsNoTrace(t *testing.T) {
	dir := t.TempDir()
	goal := filepath.Join(dir, "a.goal")
	if err := os.WriteFile(goal, []byte("num_ranks 1\nrank 0 {\ncalc 1\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{Stdin, "ring", goal, dir, filepath.Join(dir, "missing.otf2")} {
		if IsTrace(word) {
			t.Errorf("%s is taken for a trace", word)
		}
	}
	if !isSchedule(goal) || isSchedule("ring") {
		t.Errorf("schedule: %s %v, ring %v", goal, isSchedule(goal), isSchedule("ring"))
	}
	if _, err := Open(t.Context(), dir, Options{}); err == nil || !strings.Contains(err.Error(), "is a directory without a trace") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := OpenTrace(t.Context(), filepath.Join(dir, "missing"), TraceOptions{}); err == nil ||
		!strings.Contains(err.Error(), "missing: no such file or directory") {
		t.Errorf("nothing there: %v", err)
	}
	if _, err := OpenTrace(t.Context(), goal, TraceOptions{}); err == nil || !strings.Contains(err.Error(), "a.goal: not a trace") {
		t.Errorf("a schedule: %v", err)
	}
}

// isSchedule reports whether word is opened as a file with a schedule: not as a pattern, and not as a recorded run.
func isSchedule(word string) bool { return IsFile(word) && !IsTrace(word) }

// What is damaged in the events of a run is reported also where it is replayed.
func TestReplayDamaged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS("../../testdata/waits2/cases/13-lock-queue")); err != nil {
		t.Fatal(err)
	}
	events := filepath.Join(dir, "traces", "1.evt")
	info, err := os.Stat(events)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(events, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	in, err := Open(t.Context(), filepath.Join(dir, "traces.otf2"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(in.Warnings, func(w string) bool { return strings.Contains(w, "rank 1: events end early") }) {
		t.Errorf("warnings %q, want one of events that end early", in.Warnings)
	}
}
