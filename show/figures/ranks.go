package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
)

// RankTimes is a time of each rank.
type RankTimes struct {
	Name  string
	Times []unit.Sum // by rank
}

// ranksPerRow is how many ranks are in a row of a map without a process grid.
const ranksPerRow = 64

// RankMaps maps times onto ranks, one map for each of the series. Ranks without a process grid are in rows of perRow;
// 0: of 64.
func RankMaps(tl *timeline.Timeline, series []RankTimes, perRow int) *plot.HeatMap {
	perRow = cmp.Or(perRow, ranksPerRow)
	h := &plot.HeatMap{}
	for _, s := range series {
		h.Maps = append(h.Maps, rankMap(tl, s, perRow))
	}
	return h
}

// mostlyEmpty is how many places of a process grid there may be for each rank of the run; torus networks have more than a job uses.
const mostlyEmpty = 64

// places is how many there are in a process grid.
func places(dims []int) int {
	n := 1
	for _, size := range dims {
		n *= size
	}
	return n
}

// rankMap is a map of a time by rank: on the process grid, if there is one with up to three dimensions, else in rows of
// perRow ranks. A three-dimensional grid is a field for each layer of its first coordinate.
func rankMap(tl *timeline.Timeline, series RankTimes, perRow int) plot.Map {
	times, none := series.Times, []float64{math.NaN()}
	m := plot.Map{Title: series.Name, Quantity: plot.Time}
	g := tl.Grid
	if g == nil || len(g.Dims) == 0 || len(g.Dims) > 3 || places(g.Dims) > max(mostlyEmpty*len(times), 1<<16) {
		m.Columns = max(min(len(times), perRow), 1)
		m.Rows = max((len(times)+m.Columns-1)/m.Columns, 1)
		m.X = "rank"
		if m.Rows > 1 {
			m.X = fmt.Sprintf("ranks, %d in a row", m.Columns)
		}
		m.Values = slices.Repeat(none, m.Columns*m.Rows)
		for rank, t := range times {
			m.Values[rank] = t.Float()
		}
		return m
	}
	rows, columns, layers := 1, g.Dims[len(g.Dims)-1], 1
	if len(g.Dims) >= 2 {
		rows = g.Dims[len(g.Dims)-2]
	}
	if len(g.Dims) == 3 {
		layers = g.Dims[0]
	}
	m.X = fmt.Sprintf("coordinate %d", len(g.Dims))
	if rows > 1 {
		m.Y = fmt.Sprintf("coordinate %d", len(g.Dims)-1)
	}
	across := 1 // as many fields beside each other as below
	for across*across < layers {
		across++
	}
	down := (layers + across - 1) / across
	if layers > 1 {
		m.X += " (fields: coordinate 1)"
		m.Fields = true
	}
	m.Rows, m.Columns = down*(rows+1)-1, across*(columns+1)-1
	m.Values = slices.Repeat(none, m.Rows*m.Columns)
	for rank, t := range times {
		if rank < len(g.Coords) && len(g.Coords[rank]) == len(g.Dims) {
			at := append(make([]int, 3-len(g.Dims)), g.Coords[rank]...)
			row, column := at[0]/across*(rows+1)+at[1], at[0]%across*(columns+1)+at[2]
			m.Values[row*m.Columns+column] = t.Float()
		}
	}
	return m
}

// slots are the colors of parts of the time; the others get the next free ones.
var slots = map[string]int{"computation": 3, "MPI without waiting": 1, "waiting": 2, "other": 7}

// StackedRanks shows parts of the time of each rank on top of each other.
func StackedRanks(series []RankTimes) *plot.Chart {
	ranks := len(series[0].Times)
	edges := make([]float64, ranks+1)
	for i := range edges {
		edges[i] = float64(i) - 0.5
	}
	c := &plot.Chart{
		X: plot.Axis{Label: "rank", Whole: true}, Y: plot.Axis{Label: "time", Quantity: plot.Time, FromZero: true},
	}
	low := make([]float64, ranks)
	for _, s := range series {
		high := make([]float64, ranks)
		for rank := range high {
			high[rank] = low[rank] + s.Times[rank].Float()
		}
		c.Layers = append(c.Layers, &plot.Band{Name: s.Name, Slot: slots[s.Name], X: edges, Low: low, High: high, Stepped: true})
		low = high
	}
	return c
}
