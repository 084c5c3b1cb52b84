package timeline

import (
	"slices"
	"testing"

	"slackline/model/unit"
)

// TestCircumstances: less than 1 % without a CPU is not worth a sentence.
func TestCircumstances(t *testing.T) {
	const lack = "threads were without a CPU for 25.0 % of their time in 1ns: others had it, and what of that was outside waits " +
		"made them slower"
	const little = "threads were without a CPU for 1.0 % of their time in 1ns: others had it, and what of that was outside waits " +
		"made them slower"
	const yield = "the recorder made MPI give up the CPU while it waits (--yield): without that the run may take much longer"
	for _, c := range []struct {
		lacked unit.Duration
		end    unit.Duration
		yield  bool
		share  float64
		want   []string
	}{
		{0, 1000, false, 0, nil},
		{9, 1000, false, 0, nil},
		{10, 1000, false, 0.01, []string{little}},
		{250, 1000, false, 0.25, []string{lack}},
		{250, 1000, true, 0.25, []string{lack, yield}},
		{0, 1000, true, 0, []string{yield}},
		{5, 0, false, 0, nil}, // no thread lived
	} {
		tl := &Timeline{End: c.end, ForcedYield: c.yield, Locations: []Location{{Lacked: c.lacked}}}
		if got := tl.LackShare(); got != c.share {
			t.Errorf("%v of %v: share %v, want %v", c.lacked, c.end, got, c.share)
		}
		if got := tl.Circumstances(); !slices.Equal(got, c.want) {
			t.Errorf("%v of %v, yield %t: %q, want %q", c.lacked, c.end, c.yield, got, c.want)
		}
	}
}
