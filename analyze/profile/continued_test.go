package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/trace/tracetest"
	"slackline/model/unit"
)

// continued is a run in which recording is switched off and on again in open calls: f is open all the time, g is called twice, and h when
// recording is off.
const continued = `slackline trace 1
unit us
rank 0
0 main {
  5 f {
    10..20 g
    @30 recording off
    @40 recording on
    40..45 g
    @50 recording off
    52 h {
    @60 recording on
    @70 recording off
    @80 recording on
    } 85
  } 90
} 100
`

// visitsOf are the visits of all call paths.
func visitsOf(t *testing.T, tl *timeline.Timeline) (text string) {
	t.Helper()
	p, err := New(tl, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range p.ByPath {
		text += fmt.Sprintf("%s %d, ", p.Paths.Names[e.Path], e.Visits)
	}
	return text
}

// A call that goes on over a time when recording was off is one visit, in all formats; one that was open when recording began, or a part of
// the run, counts, too.
func TestContinuedCalls(t *testing.T) {
	tl := tracetest.Timeline(t, continued)
	const all = "main 1, main/f 1, main/f/g 2, main/f/h 1, "
	for from, want := range map[unit.Duration]string{
		0: all, 35: "main 1, main/f 1, main/f/g 1, main/f/h 1, ", 55: "main 1, main/f 1, main/f/h 1, ", 75: "main 1, main/f 1, main/f/h 1, ",
		87: "main 1, main/f 1, ",
		25: "main 1, main/f 1, main/f/g 1, main/f/h 1, ", // f is cut before recording stops, after a call in it
	} {
		if got := visitsOf(t, tl.Window(from*unit.Microsecond, 100*unit.Microsecond, 1)); got != want {
			t.Errorf("visits from %d us on: %s, want %s", from, got, want)
		}
	}
	for format, file := range map[string]string{"slt": "run.slt", "trace-text": "run.txt", "otf2": "run/traces.otf2"} {
		dir := t.TempDir()
		name, _, _ := strings.Cut(filepath.Join(dir, file), "/traces.otf2")
		if _, err := trace.Write(name, trace.FromTimeline(tl), format, trace.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		in, err := trace.Open(os.DirFS(dir), file, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := trace.ToTimeline(in, trace.TimelineOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := visitsOf(t, again); got != all {
			t.Errorf("%s: visits: %s, want %s", format, got, all)
		}
	}
}
