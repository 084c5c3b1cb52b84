package convert_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/cli/clitest"
	"slackline/model/trace/tracetest"
)

// document is what a verb says of a run in JSON, without what names its file.
func document(t *testing.T, verb, run, flags string) any {
	t.Helper()
	args := append([]string{verb, run, "--format", "json", "--quiet"}, strings.Fields(flags)...)
	code, stdout, stderr := clitest.Run("", args...)
	if code != 0 {
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		reason := strings.NewReplacer(run+"/definitions.slt", "RUN", run+"/traces.otf2", "RUN", run, "RUN").Replace(lines[len(lines)-1])
		return fmt.Sprintf("exit code %d: %s", code, reason)
	}
	var d map[string]any
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	delete(d, "provenance")
	delete(d, "input")
	return d
}

// TestRandomRunsInAllFormats: whatever a run has, verbs say the same of it in every format that keeps it, of all of it and of parts, and
// after it came back from another format. What OTF2 cannot hold is reported when it is written.
func TestRandomRunsInAllFormats(t *testing.T) {
	seeds := uint64(24)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		exotic := seed%4 == 3
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			files(t, map[string]string{"run.trace": tracetest.Random(seed, exotic)})
			run(t, "convert run.trace --out run.slt")
			_, _, warnings := clitest.Run("", "convert", "run.slt", "--to", "otf2", "--out", "run-otf2")
			reported := strings.Contains(warnings, "warning: OTF2 has no")
			if !exotic && reported {
				t.Errorf("something is lost in OTF2:\n%s", warnings)
			}
			run(t, "convert run-otf2 --out back.slt")
			run(t, "convert run.slt --out back.trace")
			for _, question := range [][2]string{
				{"waits", "--critical-path --explain 3"}, {"waits", "--critical-path --only-ranks 1-2"}, {"profile", "--only-ranks 1-2"},
				{"waits", "--critical-path --begin 100ns --end 600ns"}, {"profile", "--begin 100ns --end 600ns"}, {"profile", ""},
				{"waits", "--critical-path --only-ranks 0,2 --begin 100ns --end 500ns"}, {"profile", "--only-ranks 0,2 --begin 100ns"},
				{"tolerance", "--machine chic"},
			} {
				want := document(t, question[0], "run.slt", question[1])
				for _, other := range []string{"run.trace", "back.trace", "run-otf2", "back.slt"} {
					if exotic && reported && !strings.HasSuffix(other, ".trace") {
						continue
					}
					if diff := cmp.Diff(want, document(t, question[0], other, question[1])); diff != "" {
						t.Errorf("%s %s: %s differs from run.slt:\n%s", question[0], question[1], other, diff)
					}
				}
			}
		})
	}
}
