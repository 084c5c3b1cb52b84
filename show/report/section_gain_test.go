package report_test

import (
	"strings"
	"testing"

	"slackline/model/trace/tracetest"
)

// Without network costs the run takes 36 us: 28 us in solve and 8 us in main on rank 0. With solve balanced, 18 us on each rank, it
// takes 26 us. The list is that of advise: with sentence, command and ceilings.
func TestGainSection(t *testing.T) {
	d := documentOf(t, inputOf(t, tracetest.LateSender))
	section := sectionOf(d, "gain")
	found := map[string]bool{}
	for _, row := range rowsOf(t, section) {
		switch {
		case row[0] == "0.2777777777777778" && row[2] == "26000" && row[4] == "even" && row[5] == "main/solve":
			found["change"] = row[6] == "slackline waits run.slt --change balance:even@main/solve"
		case row[0] == "perfect balance":
			found["ceiling"] = row[1] == "25500"
		}
	}
	for _, b := range section.Blocks {
		for _, s := range b.Story {
			found["sentence"] = found["sentence"] || strings.Contains(s.Text, "takes 8us to 28us on a rank")
		}
	}
	found["fix"] = d.Fix != nil && d.Fix.Change == "balance:even@main/solve" && d.Fix.Path == "main/solve"
	for _, what := range []string{"change", "ceiling", "sentence", "fix"} {
		if !found[what] {
			t.Errorf("no %s of 26 us, 10/36 less; the rows are %q, the fix is %+v", what, rowsOf(t, section), d.Fix)
		}
	}
}

// A run that cannot be simulated says why.
func TestNoGain(t *testing.T) {
	in := inputOf(t, tracetest.LateSender)
	in.Runs[0].Program, in.Runs[0].NoProgram = nil, "the trace has no messages"
	for _, id := range []string{"gain", "tolerance"} {
		if s := sectionOf(documentOf(t, in), id); s.Missing == nil || s.Missing.Why != "the trace has no messages" {
			t.Errorf("section %s: missing = %+v, want the reason", id, s.Missing)
		}
	}
}
