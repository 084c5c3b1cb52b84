package replay

import (
	"math"
	"strings"
	"testing"

	"slackline/model/unit"
)

// TestReportOfLongRuns: the times of many ranks together may be longer than 106 days.
func TestReportOfLongRuns(t *testing.T) {
	var r Report
	for range 4 {
		r.add(&walkReport{span: math.MaxInt64, noCPU: math.MaxInt64 / 4})
	}
	if r.Spans != unit.SumOf(math.MaxInt64).Times(4) {
		t.Errorf("all ranks took %s", r.Spans)
	}
	if list := r.Circumstances(); len(list) != 1 || !strings.Contains(list[0], "25.0 % of their time") {
		t.Errorf("%q, want 25.0 %% without a CPU", list)
	}
}
