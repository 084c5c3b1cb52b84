package trace

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"slackline/model/missing"
)

// What is missing of a run is missing of what it is converted to.
func TestMissingTravels(t *testing.T) {
	parsed := func(text string) *Trace {
		tr, err := parse("slackline trace 1\n" + text)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	logs := inspectorLogs()
	logs["run/a-pid3.log"] = &fstest.MapFile{}
	lost, err := Open(logs, "run", Options{})
	if err != nil {
		t.Fatal(err)
	}
	doubtful := parsed("rank 0\n0..1 f\nrank 1\n0..1 f\n")
	doubtful.Locations[1].Doubtful = true
	simulated := toTimeline(t, parsed("tool \"slackline simulate\"\nrank 0\n0..1 f\n"), TimelineOptions{})
	simulated.Source = &missing.Parts{Off: 0.25, How: missing.Ring, Ranks: 2, Only: "0..3"}
	guessed := parsed("rank 0\n0..1 f\n")
	guessed.Missing = MissingWord(missing.Parts{Guessed: 2})
	alone := toTimeline(t, parsed("rank 0\n0..1 MPI_Send: send to 1\nrank 1\n0..1 f\n"), TimelineOptions{})
	for name, tc := range map[string]struct {
		trace *Trace
		want  missing.Parts
	}{
		"file":      {lost, missing.Parts{Files: 1}},
		"thread":    {parsed("rank 0\n0..1 f\nrank 0 thread 1 missing\nrank 1\n0..1 f\n"), missing.Parts{Ranks: 1}},
		"master":    {parsed("rank 0 missing\nrank 0 thread 1 truncated\n0..1 f\nrank 1\n0..1 f\n"), missing.Parts{Ranks: 1}},
		"guessed":   {guessed, missing.Parts{Guessed: 2}},
		"unmatched": {FromTimeline(alone), missing.Parts{Unmatched: 1}},
		"doubtful":  {doubtful, missing.Parts{Ranks: 1}},
		"simulated": {FromTimeline(simulated), missing.Parts{Off: 0.25, How: missing.Ring, Ranks: 2, Only: "0..3", Simulated: true}},
	} {
		for _, format := range []string{"slt", "otf2", "trace-text"} {
			path := filepath.Join(t.TempDir(), "run."+format)
			if _, err := Write(path, tc.trace, format, WriteOptions{}); err != nil {
				t.Fatal(name, format, err)
			}
			again, err := openPath(path, Options{})
			if err != nil {
				t.Fatal(name, format, err)
			}
			for _, from := range []*Trace{tc.trace, again} {
				if got := toTimeline(t, from, TimelineOptions{Clock: ClockNone}).Missing(); got != tc.want {
					t.Errorf("%s, %s: %+v is missing of %s, want %+v", name, format, got, from.Name, tc.want)
				}
			}
			if tc.trace.Missing != "" && len(again.Warnings) == 0 {
				t.Errorf("%s, %s: nothing warns", name, format)
			}
		}
		f, _ := FormatNamed("folded")
		warnings, err := f.WriteTo(&bytes.Buffer{}, tc.trace, WriteOptions{})
		says := strings.Contains(strings.Join(warnings, ""), "folded does not say what is missing")
		if err != nil || says != (tc.trace.Missing != "") {
			t.Errorf("%s: %q, %v", name, warnings, err)
		}
	}
}

// What cannot be missing is damage.
func TestDamagedMissing(t *testing.T) {
	for _, word := range []string{`{"incomplete_ranks":-1}`, `{"lost_files":1.5}`, "all"} {
		tr, err := parse("slackline trace 1\nmissing `" + word + "`\nrank 0\n0..1 f\n")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ToTimeline(tr, TimelineOptions{}); err == nil || !strings.Contains(err.Error(), "its definitions are damaged") {
			t.Errorf("%s: error %v", word, err)
		}
	}
}
