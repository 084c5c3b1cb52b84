package datasets

import (
	"math"
	"strings"
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

// TestWaitingOfRuns: the waiting time of a run is the same from its trace and from its result, without what was not analyzed.
func TestWaitingOfRuns(t *testing.T) {
	in, err := input.OpenTrace(t.Context(), "../../testdata/waits/cases/18-oddities/traces.otf2", input.TraceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := waits.Analyze(t.Context(), in.Timeline, waits.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Unanalyzed) == 0 {
		t.Fatal("all of the run is analyzed")
	}
	want := map[string]float64{}
	for _, w := range found.Waits {
		if !w.Metric.IsPart() {
			want[strings.ReplaceAll(w.CallPath, "/", "->")] += w.Amount.InSeconds() / float64(found.Timeline.Ranks)
		}
	}
	for _, s := range RunDataset(found).Series {
		if got := s.Points[0].Values[0]; s.Metric == "waiting" && math.Abs(got-want[s.CallPath]) > 1e-15 {
			t.Errorf("%s: %g s, want %g s", s.CallPath, got, want[s.CallPath])
		}
	}
}
