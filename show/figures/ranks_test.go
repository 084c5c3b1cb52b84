package figures

import (
	"math"
	"slices"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
)

// wantCells compares the cells of a map; NaN is a cell without a value.
func wantCells(t *testing.T, m plot.Map, want []float64) {
	t.Helper()
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	if !slices.EqualFunc(m.Values, want, same) {
		t.Errorf("%d rows of %d cells: %v, want %v", m.Rows, m.Columns, m.Values, want)
	}
}

// TestRankMapFields checks where ranks of a 3-D grid are: five layers of 2 x 3 as fields, three beside each other.
func TestRankMapFields(t *testing.T) {
	grid := &timeline.Grid{Dims: []int{5, 2, 3}}
	var times []unit.Sum
	for x := range 5 {
		for y := range 2 {
			for z := range 3 {
				grid.Coords = append(grid.Coords, []int{x, y, z})
				times = append(times, unit.SumOf(unit.Duration(100*x+10*y+z)))
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
	wantCells(t, m, want)
}

// Ranks are in rows, too, if next to nobody is in their grid.
func TestRankMapOfEmptyGrid(t *testing.T) {
	tl := &timeline.Timeline{Ranks: 2, Grid: &timeline.Grid{Dims: []int{46340, 46340}, Coords: [][]int{{0, 0}, {46339, 46339}}}}
	m := RankMaps(tl, []RankTimes{{Times: []unit.Sum{unit.SumOf(1), unit.SumOf(2)}}}, 0).Maps[0]
	wantCells(t, m, []float64{1, 2})
}

// Without a process grid ranks are in rows; the last one may be short.
func TestRankMapRows(t *testing.T) {
	none := math.NaN()
	for _, tc := range []struct {
		ranks, perRow, columns, rows int
		x                            string
		want                         []float64
	}{
		{1, 0, 1, 1, "rank", []float64{0}},
		{3, 0, 3, 1, "rank", []float64{0, 1, 2}},
		{4, 2, 2, 2, "ranks, 2 in a row", []float64{0, 1, 2, 3}},
		{5, 3, 3, 2, "ranks, 3 in a row", []float64{0, 1, 2, 3, 4, none}},
		{0, 0, 1, 1, "rank", []float64{none}},
	} {
		times := make([]unit.Sum, tc.ranks)
		for i := range times {
			times[i] = unit.SumOf(unit.Duration(i))
		}
		m := RankMaps(&timeline.Timeline{Ranks: tc.ranks}, []RankTimes{{"waiting", times}}, tc.perRow).Maps[0]
		if m.Columns != tc.columns || m.Rows != tc.rows || m.X != tc.x || m.Title != "waiting" {
			t.Errorf("%d ranks: %d x %d %q, want %d x %d %q", tc.ranks, m.Rows, m.Columns, m.X, tc.rows, tc.columns, tc.x)
		}
		wantCells(t, m, tc.want)
	}
	if m := RankMaps(&timeline.Timeline{}, []RankTimes{{"", make([]unit.Sum, 65)}}, 0).Maps[0]; m.Columns != 64 || m.Rows != 2 {
		t.Errorf("65 ranks are in %d rows of %d, want 2 of 64", m.Rows, m.Columns)
	}
}

// The last coordinate runs to the right, the one before it down. Ranks that are not in the grid have no cell, and neither
// do grids with more than three dimensions.
func TestRankMapGrids(t *testing.T) {
	none := math.NaN()
	for _, tc := range []struct {
		grid          timeline.Grid
		x, y          string
		columns, rows int
		want          []float64
	}{
		{timeline.Grid{Dims: []int{3}, Coords: [][]int{{2}, {0}, {1}}}, "coordinate 1", "", 3, 1, []float64{11, 12, 10}},
		{timeline.Grid{Dims: []int{2, 2}, Coords: [][]int{{1, 0}, {0, 1}}}, "coordinate 2", "coordinate 1", 2, 2, []float64{none, 11, 10, none}},
		{timeline.Grid{Dims: []int{2, 1}, Coords: [][]int{nil, {1, 0}, {0, 0}}}, "coordinate 2", "coordinate 1", 1, 2, []float64{12, 11}},
		{timeline.Grid{Dims: []int{1, 1, 1, 3}}, "rank", "", 3, 1, []float64{10, 11, 12}},
		{timeline.Grid{}, "rank", "", 3, 1, []float64{10, 11, 12}},
	} {
		m := RankMaps(&timeline.Timeline{Ranks: 3, Grid: &tc.grid}, []RankTimes{{"time", sums(10, 11, 12)}}, 0).Maps[0]
		if m.X != tc.x || m.Y != tc.y || m.Columns != tc.columns || m.Rows != tc.rows || m.Fields {
			t.Errorf("%v: %d x %d over %q, %q; want %d x %d over %q, %q", tc.grid.Dims, m.Rows, m.Columns, m.X, m.Y, tc.rows, tc.columns, tc.x, tc.y)
		}
		wantCells(t, m, tc.want)
	}
}

// Each part lies on the one before it, and a rank is as wide as 1 around its number.
func TestStackedRanks(t *testing.T) {
	c := StackedRanks([]RankTimes{{"computation", sums(5, 7)}, {"waiting", sums(2, 0)}, {"more", sums(1, 1)}})
	want := [][2][]float64{{{0, 0}, {5, 7}}, {{5, 7}, {7, 7}}, {{7, 7}, {8, 8}}}
	for i, layer := range c.Layers {
		b := layer.(*plot.Band)
		if !slices.Equal(b.Low, want[i][0]) || !slices.Equal(b.High, want[i][1]) || !slices.Equal(b.X, []float64{-0.5, 0.5, 1.5}) || !b.Stepped {
			t.Errorf("%s from %v to %v between %v, want %v", b.Name, b.Low, b.High, b.X, want[i])
		}
	}
}
