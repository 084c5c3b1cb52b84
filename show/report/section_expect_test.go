package report_test

import (
	"math"
	"testing"

	"slackline/analyze/scaling"
	"slackline/model/trace/tracetest"
	"slackline/show/report"
)

func TestExpectationsSection(t *testing.T) {
	e, err := scaling.ParseExpectations("scaling.yaml", []byte("expectations:\n  - {function: solve, expect: O(log p)}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, verdict string
		value         func(p float64) float64
	}{
		{"met", "pass", func(p float64) float64 { return 0.002 * math.Log2(p) }},
		{"not met", "fail", func(p float64) float64 { return 0.002 * p }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := dataOf(tc.value)
			in.Expectations = &report.Expectations{Expectations: e, Name: "scaling.yaml"}
			section := sectionOf(documentOf(t, in), "expectations")
			wantRow(t, section, tc.verdict, "solve", "O(log p)")
			if figureOf(section, "expected") == nil {
				t.Error("no figure of the expectation and what was found")
			}
		})
	}
}

// Expectations without measurements are not judged, and the reason is given.
func TestExpectationsWithoutData(t *testing.T) {
	in := inputOf(t, tracetest.LateSender)
	in.Expectations = &report.Expectations{Name: "scaling.yaml"}
	if s := sectionOf(documentOf(t, in), "expectations"); s.Missing == nil || s.Missing.Command == "" {
		t.Errorf("missing = %+v, want a reason and a command", s.Missing)
	}
}
