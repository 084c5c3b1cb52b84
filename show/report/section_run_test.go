package report_test

import (
	"strings"
	"testing"

	"slackline/model/trace/tracetest"
)

func TestRunSection(t *testing.T) {
	d := documentOf(t, inputOf(t, tracetest.LateSender))
	run := sectionOf(d, "run")
	if figureOf(run, "messages") == nil {
		t.Fatal("no figure of the messages")
	}
	wantRow(t, run, "0", "1", "8") // from rank 0 to rank 1: one message, 8 bytes
	if n := len(figureOf(run, "messages").Data.Rows); n != 1 {
		t.Errorf("%d pairs of ranks, want 1", n)
	}
	found := false
	for _, b := range run.Blocks {
		for _, f := range b.Facts {
			found = found || f.Value == "run.slt"
		}
	}
	if !found {
		t.Error("the run is not named among the facts")
	}
}

// Runs are compared by their run times and efficiencies; a faster one is beside the first.
func TestComparedSection(t *testing.T) {
	in := inputOf(t, tracetest.LateSender)
	balanced := strings.NewReplacer("2..30 ", "2..10 ", "30..32", "10..12", "10..33", "10..13", "} 40", "} 20").Replace(tracetest.LateSender)
	fast := inputOf(t, balanced).Runs[0]
	fast.Name, fast.Words = "fast.slt", []string{"fast.slt"}
	in.Runs = append(in.Runs, fast)
	compared := sectionOf(documentOf(t, in), "compared")
	wantRow(t, compared, "run.slt", "2", "40000")
	wantRow(t, compared, "fast.slt", "2", "20000")
}
