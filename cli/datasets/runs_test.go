package datasets

import (
	"testing"

	"slackline/analyze/waits"
	"slackline/cli/input"
)

// Calls of functions that samples found are not counted, so that there is no model of their visits; those of MPI are.
func TestVisitsOfSampledFunctions(t *testing.T) {
	in, err := input.OpenTrace(t.Context(), "../../examples/late/late.slt", input.TraceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := waits.Analyze(t.Context(), in.Timeline, waits.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	metrics := map[string]map[string]float64{}
	for _, s := range RunDataset(found).Series {
		if metrics[s.CallPath] == nil {
			metrics[s.CallPath] = map[string]float64{}
		}
		metrics[s.CallPath][s.Metric] = s.Points[0].Values[0]
	}

	if fixup := metrics["main->step->fixup"]; fixup["time"] <= 0 {
		t.Errorf("no time in a sampled function: %v", fixup)
	} else if visits, counted := fixup["visits"]; counted {
		t.Errorf("a sampled function was visited %g times", visits)
	}
	if reduce := metrics["main->step->MPI_Allreduce"]; reduce["visits"] != 20 { // on each rank
		t.Errorf("MPI_Allreduce: %v, want 20 visits", reduce)
	}
}
