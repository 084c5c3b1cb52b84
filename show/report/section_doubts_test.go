package report_test

import (
	"strings"
	"testing"

	"slackline/model/trace/tracetest"
)

// Every warning that came up while the inputs were read is in the report, and what the clocks make impossible.
func TestDoubtsSection(t *testing.T) {
	in := inputOf(t, tracetest.LateSender)
	in.Warnings = []string{"rank 3 is truncated", "the clocks were not compared"}
	p := &in.Runs[0].Timeline.Problems
	p.Violations, p.EarlyCollectives, p.WorstViolation = 2, 3, 5e6
	section := sectionOf(documentOf(t, in), "doubts")
	var all strings.Builder
	for _, b := range section.Blocks {
		all.WriteString(b.Text + b.Doubt)
		for _, s := range b.Story {
			all.WriteString(s.Text)
		}
	}
	for _, row := range rowsOf(t, section) {
		all.WriteString(strings.Join(row, " "))
	}
	for _, w := range append(in.Warnings, "2 messages arrived before they were sent and 3 collectives ended before they could, by up to 5us") {
		if !strings.Contains(all.String(), w) {
			t.Errorf("the warning %q is not in the section", w)
		}
	}
}
