package figures

import (
	"math"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// TestRankMapFields checks where ranks of a 3-D grid are: five layers of 2 x 3 as fields, three beside each other.
func TestRankMapFields(t *testing.T) {
	grid := &timeline.Grid{Dims: []int{5, 2, 3}}
	var times []unit.Duration
	for x := range 5 {
		for y := range 2 {
			for z := range 3 {
				grid.Coords = append(grid.Coords, []int{x, y, z})
				times = append(times, unit.Duration(100*x+10*y+z))
			}
		}
	}
	m := RankMaps(&timeline.Timeline{Ranks: len(times), Grid: grid}, []RankTimes{{Name: "waiting", Times: times}}, 0).Maps[0]
	if m.Columns != 11 || m.Rows != 5 || !m.Fields {
		t.Fatalf("%d columns, %d rows, fields %v; want 11, 5, true", m.Columns, m.Rows, m.Fields)
	}
	none := math.NaN()
	want := []float64{
		0, 1, 2, none, 100, 101, 102, none, 200, 201, 202,
		10, 11, 12, none, 110, 111, 112, none, 210, 211, 212,
		none, none, none, none, none, none, none, none, none, none, none,
		300, 301, 302, none, 400, 401, 402, none, none, none, none,
		310, 311, 312, none, 410, 411, 412, none, none, none, none,
	}
	for i, v := range want {
		if got := m.Values[i]; got != v && !(math.IsNaN(got) && math.IsNaN(v)) {
			t.Errorf("row %d, column %d is %g, not %g", i/m.Columns, i%m.Columns, got, v)
		}
	}
}
