package waits

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/trace"
)

// TestHandedRequestsInAllFormats writes random runs in which threads complete what others began, and finds the same waits in each format.
func TestHandedRequestsInAllFormats(t *testing.T) {
	handed := map[string]int{}
	for number := range uint64(75) {
		seed, formats := 8*number+4, []string{"slt", "trace-text", "otf2"}
		if number%5 == 0 { // with files, and with what OTF2 lacks
			seed, formats = seed+3, formats[:2]
		}
		tl := randomRun(seed)
		want := analyze(t, tl, 1)
		want.countHanded(handed)
		for _, to := range formats {
			dir := t.TempDir()
			if _, err := trace.Write(filepath.Join(dir, "run"), trace.FromTimeline(tl), to, trace.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			got := timelineOf(t, openTrace(t, dir, "run"))
			if diff := cmp.Diff(summary(want), summary(analyze(t, got, 1))); diff != "" {
				t.Fatalf("seed %d, %s (-want +got):\n%s", seed, to, diff)
			}
			if diff := cmp.Diff(livesOf(tl), livesOf(got)); diff != "" {
				t.Fatalf("seed %d, %s: threads (-want +got):\n%s", seed, to, diff)
			}
		}
	}
	if handed["sends"] == 0 || handed["receives"] == 0 || handed["collectives"] == 0 || handed["operations on files"] == 0 {
		t.Errorf("some kinds of requests are not handed from thread to thread: %v", handed)
	}
}

// livesOf lists when the threads of all locations lived, from the start of the run.
func livesOf(tl *timeline.Timeline) (lives [][]timeline.Span) {
	for i := range tl.Locations {
		var list []timeline.Span
		for _, s := range tl.Locations[i].Alive {
			list = append(list, timeline.Span{From: s.From - tl.Start, To: s.To - tl.Start})
		}
		lives = append(lives, list)
	}
	return lives
}

// TestCasesInAllFormats converts the reference cases to each format and finds the same waits there. OTF2 has no sizes
// by peer, neighbors and
// channels: the cases about these are texts only.
func TestCasesInAllFormats(t *testing.T) {
	for _, file := range caseTraces(t) {
		dir, name := filepath.Split(file)
		_, err := os.Stat(filepath.Join(dir, "traces.otf2"))
		t.Run(filepath.Base(dir)+"/"+name, func(t *testing.T) {
			_, want := readCase(t, file)
			for _, to := range []string{"slt", "trace-text", "otf2"} {
				if to == "otf2" && err != nil {
					continue
				}
				out := t.TempDir()
				if _, err := trace.Write(filepath.Join(out, "run"), openTrace(t, dir, name), to, trace.WriteOptions{}); err != nil {
					t.Fatal(err)
				}
				compareCase(t, analyze(t, timelineOf(t, openTrace(t, out, "run")), 1), want)
			}
		})
	}
}
