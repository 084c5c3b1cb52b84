package report_test

import (
	"testing"

	"slackline/model/trace/tracetest"
)

// T is max(36 us + L, 35 us + 2 L): the barrier has one latency, and the message to rank 1 another. 1 and 2 % are reached by the
// first, 5 % by the second.
func TestToleranceSection(t *testing.T) {
	section := sectionOf(documentOf(t, inputOf(t, tracetest.LateSender)), "tolerance")
	found := false
	for _, row := range rowsOf(t, section) {
		if len(row) > 5 && row[1] == "0" && row[2] == "360000" && row[3] == "720000" && row[4] == "1400000" && row[5] == "1" { // ps; latencies
			found = true
		}
	}
	if !found {
		t.Errorf("no tolerances of 0.36, 0.72 and 1.4 us; the rows are %q", rowsOf(t, section))
	}
	if figureOf(section, "latency") == nil {
		t.Error("no figure of the run time over the latency")
	}
}
