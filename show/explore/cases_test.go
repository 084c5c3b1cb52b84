package explore

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"slackline/model/timeline"
	"slackline/model/trace"
)

// readCase reads one of the reference traces.
func readCase(tb testing.TB, dir string) *timeline.Timeline {
	tb.Helper()
	raw, err := trace.Open(os.DirFS(dir), "traces.otf2", trace.Options{Name: dir})
	if err != nil {
		tb.Fatal(err)
	}
	tl, err := trace.ToTimeline(raw, trace.TimelineOptions{Threads: 2})
	if err != nil {
		tb.Fatal(err)
	}
	if raw.Close != nil {
		if err := raw.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return tl
}

// The reference traces, those with threads among them, look as the oracle says, and every question about them is answered.
func TestReferenceTraces(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/waits/cases/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no reference traces: %v", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			tl := readCase(t, dir)
			s, h := serverOf(t, tl)
			v := s.inputs[0].view.Load()
			if _, err := v.analyzed(context.Background()); err != nil {
				t.Fatal(err)
			}
			n := len(tl.Locations)
			for _, color := range colors {
				checkPicture(t, v, color, 0, v.length(), 24, 0, n, min(n, 6))
				checkPicture(t, v, color, v.length()/3, v.length()/3+max(v.length()/40, 1), 24, 0, n, min(n, 6))
			}
			for _, at := range []string{
				"locations", "calls", "states", "messages", "critical", "waits", "tree", "distribution?metric=waiting", "matrix", "iterations",
				"composition",
			} {
				if answer, body := ask(t, s, h, "/api/"+at); answer.StatusCode != 200 {
					t.Errorf("%s: %s: %s", at, answer.Status, body)
				}
			}
			for _, state := range get[States](t, s, h, "/api/states?largest=5").States {
				checkWait(t, get[WaitAnswer](t, s, h, "/api/wait?state="+strconv.Itoa(state.State)), v.analysis.found.result, tl)
			}
		})
	}
}
