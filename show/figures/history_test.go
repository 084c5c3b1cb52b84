package figures

import (
	"slices"
	"testing"

	"slackline/analyze/changes"
	"slackline/model/history"
	"slackline/show/plot"
)

// Commits count from 1; seconds are drawn as times (in picoseconds), bytes as sizes, and other units are in the label.
func TestHistory(t *testing.T) {
	for _, tc := range []struct {
		unit     string
		quantity plot.Quantity
		label    string
		y        []float64
	}{
		{"s", plot.Time, "time", []float64{2e12, 2e12, 3e12}},
		{"B", plot.Bytes, "time", []float64{2, 2, 3}},
		{"", plot.Number, "time", []float64{2, 2, 3}},
		{"1/s", plot.Number, "time, 1/s", []float64{2, 2, 3}},
	} {
		s := &changes.Series{Metric: "time", Unit: tc.unit, At: []int{0, 2, 3}, Values: []float64{2, 2, 3}}
		c := History(&changes.Result{}, s)
		if c.Y.Quantity != tc.quantity || c.Y.Label != tc.label {
			t.Errorf("unit %q: the axis is %q with quantity %v, want %q and %v", tc.unit, c.Y.Label, c.Y.Quantity, tc.label, tc.quantity)
		}
		points := c.Layers[0].(*plot.Line)
		if !slices.Equal(points.X, []float64{1, 3, 4}) || !slices.Equal(points.Y, tc.y) || len(c.Layers) != 1 {
			t.Errorf("unit %q: %v at %v, want %v at commits 1, 3 and 4", tc.unit, points.Y, points.X, tc.y)
		}
	}
}

// A change is a line halfway between the last commit before and the first one after it; a drift leads from one to the other.
func TestHistoryChanges(t *testing.T) {
	r := &changes.Result{Commits: []history.Commit{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}}}
	s := &changes.Series{Metric: "time", Unit: "s", At: []int{0, 1, 2, 3}, Values: []float64{1, 1, 2, 3}, Changes: []changes.Change{
		{Kind: changes.KindLevel, Before: 1, After: 2, From: 1, To: 2},
		{Kind: changes.KindDrift, Before: 2, After: 3, From: 2, To: 3},
	}}
	c := History(r, s)
	rule, drift := c.Layers[1].(*plot.Rule), c.Layers[2].(*plot.Line)
	if rule.At != 2.5 || !rule.Vertical || rule.Name != "b..c: 2 x" {
		t.Errorf("the change is %+v, want b..c at 2.5", rule)
	}
	if !slices.Equal(drift.X, []float64{3, 4}) || !slices.Equal(drift.Y, []float64{2e12, 3e12}) || drift.Name != "drift, +50 %" {
		t.Errorf("the drift is %+v, want 2 s at 3 to 3 s at 4", drift)
	}
	if rule.Slot == drift.Slot || rule.Slot == 1 || drift.Slot == 1 {
		t.Errorf("changes have the colors %d and %d, which must differ from each other and from that of the values", rule.Slot, drift.Slot)
	}
}
