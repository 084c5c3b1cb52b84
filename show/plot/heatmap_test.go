package plot

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// heatExample are two maps of a grid of 6 x 4 ranks with a busy corner, and one of ranks in a line.
func heatExample() *HeatMap {
	grid := Map{Title: "Waiting time", X: "x", Y: "y", Columns: 6, Rows: 4, Quantity: Time}
	delay := Map{Title: "Delay costs", X: "x", Y: "y", Columns: 6, Rows: 4, Quantity: Time}
	for i := range 24 {
		distance := float64(i/6 + i%6)
		grid.Values = append(grid.Values, 1e9*distance)
		delay.Values = append(delay.Values, 5e9*math.Exp(-distance))
	}
	delay.Values[23] = math.NaN()
	row := Map{Title: "Share of the run", X: "rank", Columns: 24, Rows: 1, Quantity: Percent}
	for i := range 24 {
		row.Values = append(row.Values, float64(i*4))
	}
	return &HeatMap{Title: "Wait states by rank", Subtitle: "24 ranks", Caption: "Example", Maps: []Map{grid, delay, row}}
}

func TestHeatMapRefuses(t *testing.T) {
	for want, h := range map[string]*HeatMap{
		"no maps":          {},
		"has 3 values":     {Maps: []Map{{Columns: 2, Rows: 2, Values: []float64{1, 2, 3}}}},
		"has 0 values":     {Maps: []Map{{}}},
		"no label":         {Maps: []Map{{Columns: 1, Rows: 1, Values: []float64{1}}}},
		"is not a finite":  {Maps: []Map{{X: "rank", Columns: 1, Rows: 1, Values: []float64{-1}}}},
		"row 1, column 0 ": {Maps: []Map{{X: "rank", Columns: 1, Rows: 2, Values: []float64{1, math.Inf(1)}}}},
	} {
		if _, err := Render(h, "svg", Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want one with %q", err, want)
		}
	}
}

func TestHeatMapJoinsCells(t *testing.T) {
	m := Map{Columns: 1000, Rows: 1, Values: make([]float64, 1000)}
	m.Values[501] = 7
	small := m.joined()
	if small.Columns != heatCells || len(small.Values) != heatCells || small.Values[501*heatCells/1000] != 7 || small.largest() != 7 {
		t.Errorf("joined map has %d columns and the greatest value %g", small.Columns, small.largest())
	}
	if !math.IsNaN((Map{Columns: 600, Rows: 1, Values: slicesOf(math.NaN(), 600)}).joined().Values[3]) {
		t.Error("cells without value got one")
	}
}

func slicesOf(v float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// TestHeatMapCellsTouch: nothing shines through between cells, and no color is mixed: neighbors are one or the other, also on the scale.
func TestHeatMapCellsTouch(t *testing.T) {
	m := Map{X: "x", Y: "y", Columns: 13, Rows: 7, Values: slicesOf(0.5, 13*7)}
	for i := range m.Values {
		if i%3 == 0 {
			m.Values[i] = 1
		}
	}
	h := &HeatMap{Maps: []Map{m}}
	tiles := []heatTile{{Map: m, whole: m, most: 1}}
	h.place(tiles, heatWidth, newWords("", "", "", heatWidth, nil).headHeight()+8)
	shades := lightTheme.shades()
	for _, scale := range []float64{1, 1.3, 2} {
		img, area := decode(t, h, Options{Scale: scale}), tiles[0].area
		for x := math.Ceil(area.x*scale) + 2; x < area.right()*scale-2; x++ {
			for y := math.Ceil(area.y*scale) + 2; y < area.bottom()*scale-2; y++ {
				if c := pixel(img, point{x, y}, 1); c != shades[len(shades)-1] && c != shades[len(shades)/2] {
					t.Fatalf("scale %g: %v at %g, %g", scale, c, x, y)
				}
			}
		}
		for x := math.Ceil(area.x*scale) + 2; x < (area.x+160)*scale-2; x++ {
			if c := pixel(img, point{x, (tiles[0].foot + heatBar/2) * scale}, 1); !slices.Contains(shades, c) {
				t.Fatalf("scale %g: %v at %g of the scale", scale, c, x)
			}
		}
	}
	svg, err := Render(h, "svg", Options{})
	if n := strings.Count(string(svg), `shape-rendering="crispEdges"`); err != nil || n != 2+len(shades) {
		t.Errorf("%d of %d elements have crisp edges, %v", n, 2+len(shades), err)
	}
}
