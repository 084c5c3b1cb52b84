package report_test

import (
	"testing"

	"slackline/model/trace/tracetest"
)

func TestWaitsSection(t *testing.T) {
	section := sectionOf(documentOf(t, inputOf(t, tracetest.LateSender)), "waits")
	wantRow(t, section, "main/solve", "20000", "1", "0") // it causes all waiting, on rank 0
	wantRow(t, section, "main/solve", "28000", "18000")  // on the critical path, and the average of a rank
	wantRow(t, section, "1", "20000", "0")               // the map: rank 1 waits and causes nothing
	wantRow(t, section, "0", "0", "20000")               // rank 0 causes
	if f := figureOf(section, "waitmap"); f == nil || len(f.Data.Rows) != 2 {
		t.Errorf("map of waits %+v, want one with 2 ranks", f)
	}
}

// A balanced run has no causes to list.
func TestNoWaits(t *testing.T) {
	section := sectionOf(documentOf(t, inputOf(t, `slackline trace 1
unit us
rank 0
0..10 solve
10..12 MPI_Barrier: barrier
rank 1
0..10 solve
10..12 MPI_Barrier: barrier
`)), "waits")
	for _, row := range rowsOf(t, section) {
		if row[0] == "solve" && len(row) > 5 {
			t.Errorf("solve is listed as a cause of waiting: %q", row)
		}
	}
	if figureOf(section, "waitmap") != nil {
		t.Error("a map of waits is drawn for a run without waits")
	}
}
