package waits

import (
	"os"
	"path/filepath"
	"testing"

	"slackline/model/trace"
)

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
