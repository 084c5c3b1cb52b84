package report_test

import (
	"math"
	"strings"
	"testing"

	"slackline/analyze/scaling"
	"slackline/model/trace/tracetest"
	"slackline/show/report"
)

// The summary of a run has three sentences: how much is useful, what causes the waiting, and what the future brings.
func TestSummaryOfARun(t *testing.T) {
	d := documentOf(t, inputOf(t, tracetest.LateSender))
	if len(d.Summary) != 3 {
		t.Fatalf("summary = %q, want three sentences", d.Summary)
	}
	for i, parts := range [][]string{{"`run.slt`", "63.7 %"}, {"25.0 %", "`main/solve`", "27.8 %"}} {
		for _, part := range parts {
			if !strings.Contains(d.Summary[i], part) {
				t.Errorf("sentence %d = %q, want %s in it", i+1, d.Summary[i], part)
			}
		}
	}
}

// A failed expectation is the news about the future; it names the function and what was found.
func TestSummaryOfAFailure(t *testing.T) {
	e, err := scaling.ParseExpectations("scaling.yaml", []byte("expectations:\n  - {function: solve, expect: O(log p)}\n"))
	if err != nil {
		t.Fatal(err)
	}
	in := inputOf(t, tracetest.LateSender)
	in.Data = dataOf(func(p float64) float64 { return 0.002 * p }).Data
	in.Expectations = &report.Expectations{Expectations: e, Name: "scaling.yaml"}
	last := documentOf(t, in).Summary[2]
	for _, part := range []string{"`solve`", "O(p)", "O(log p)"} {
		if !strings.Contains(last, part) {
			t.Errorf("the last sentence is %q, want %s in it", last, part)
		}
	}
}

func TestSummaryOfMeasurements(t *testing.T) {
	d := documentOf(t, dataOf(func(p float64) float64 { return 0.002 * math.Log2(p) }))
	if len(d.Summary) == 0 || !strings.Contains(d.Summary[0], "8 measurements") || !strings.Contains(d.Subtitle, "8 measurements") {
		t.Errorf("subtitle %q and summary %q, want the 8 measurements in both", d.Subtitle, d.Summary)
	}
}
