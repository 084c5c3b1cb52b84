package report_test

import (
	"math"
	"testing"

	"slackline/model/trace/tracetest"
	"slackline/show/report"
)

func TestTimeSection(t *testing.T) {
	section := sectionOf(documentOf(t, inputOf(t, tracetest.LateSender)), "time")
	wantRow(t, section, "main/solve", "36000", "0.45", "2", "0", "28000") // ns of both ranks, share of 80 us, visits, the busiest rank
	wantRow(t, section, "main/MPI_Recv", "23000", "1")
	wantRow(t, section, "1", "15000", "20000") // rank 1: computation and waiting

	// Useful time: 36 us on rank 0 (28 in solve, 8 in main), 15 us on rank 1.
	want := []float64{25.5 / 40, 25.5 / 36, 36.0 / 40}
	var meters []report.Meter
	sum := 0.0
	for _, b := range section.Blocks {
		meters = append(meters, b.Meters...)
		if b.Shares != nil {
			for _, p := range b.Shares.Parts {
				sum += p.Share
			}
		}
	}
	for i, w := range want { // parallel efficiency = load balance x communication efficiency
		if i >= len(meters) || math.Abs(meters[i].Value-w) > 1e-12 {
			t.Fatalf("efficiencies %+v, want %v first", meters, want)
		}
	}
	pieces := 0 // rows of the timeline
	for _, b := range section.Blocks {
		if b.Figure != nil && b.Figure.ID == "timeline" {
			pieces = len(b.Figure.Data.Rows)
		}
	}
	if pieces != 2 {
		t.Errorf("the timeline has %d rows, want 2", pieces)
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the shares of the activities add up to %v, want 1", sum)
	}
}
