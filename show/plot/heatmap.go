package plot

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"slackline/model/unit"
)

// HeatMap is a figure of maps: fields of values as colors, side by side and below each other. Each map has its own
// scale, from 0 to its largest value, unless they share one.
type HeatMap struct {
	Title, Subtitle, Caption string
	Maps                     []Map
	Shared                   bool    // one scale for all
	PerRow                   int     // maps beside each other; 0: as many as fit, up to 3
	Width                    float64 // 0: 860
}

// Map is a field of values by row and column. The first row is at the top.
type Map struct {
	Title         string
	X, Y          string // what columns and rows are; no Y if a row only goes on where the one above ends
	Columns, Rows int
	Values        []float64 // by row, then column, 0 or more; NaN: there is none
	Quantity      Quantity
	Fields        bool // it consists of several fields, so that its columns and rows have no numbers of their own
}

// Sizes of heat maps.
const (
	heatWidth  = 860
	heatGap    = 26
	heatBar    = 10  // height of the bar that shows the scale
	heatCell   = 56  // the largest side of a cell
	heatHeight = 240 // the most that a map is high
	heatRow    = 34  // height of a map that is a single row
	heatCells  = 256 // columns and rows; more are joined
	heatShades = 64  // different colors
)

// shades are the colors of a scale: brightness changes evenly, so that the map survives a grayscale printer.
func (th *theme) shades() []color.NRGBA {
	stops := []color.NRGBA{rgb(0xF4F1EA), rgb(0xF6C667), rgb(0xE0702D), rgb(0xA8321C), rgb(0x4A0F1E)}
	if th.ground.R < 128 {
		stops = []color.NRGBA{rgb(0x262C35), rgb(0x5B2A3C), rgb(0xB5482A), rgb(0xEE9A3A), rgb(0xFBF0B5)}
	}
	list := make([]color.NRGBA, heatShades)
	for i := range list {
		place := float64(i) / (heatShades - 1) * float64(len(stops)-1)
		k := min(int(place), len(stops)-2)
		mix := func(a, b uint8) uint8 { return uint8(float64(a) + (place-float64(k))*(float64(b)-float64(a)) + 0.5) }
		a, b := stops[k], stops[k+1]
		list[i] = color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
	}
	return list
}

// check refuses what cannot be drawn.
func (h *HeatMap) check() error {
	if len(h.Maps) == 0 {
		return errors.New("there is nothing to draw: no maps")
	}
	for _, m := range h.Maps {
		if m.Columns < 1 || m.Rows < 1 || len(m.Values) != m.Columns*m.Rows {
			return fmt.Errorf("map %q has %d values for %d columns and %d rows", m.Title, len(m.Values), m.Columns, m.Rows)
		}
		if m.X == "" {
			return fmt.Errorf("map %q: its columns have no label", m.Title)
		}
		for i, v := range m.Values {
			if v < 0 || math.IsInf(v, 0) {
				return fmt.Errorf("map %q: value %g of row %d, column %d is not a finite number of at least 0", m.Title, v, i/m.Columns, i%m.Columns)
			}
		}
	}
	return nil
}

// joined returns a map with at most heatCells columns and rows; joined cells show the largest of their values.
func (m Map) joined() Map {
	if m.Columns <= heatCells && m.Rows <= heatCells {
		return m
	}
	small := m
	small.Columns, small.Rows = min(m.Columns, heatCells), min(m.Rows, heatCells)
	small.Values = slices.Repeat([]float64{math.NaN()}, small.Columns*small.Rows)
	for i, v := range m.Values {
		at := &small.Values[i/m.Columns*small.Rows/m.Rows*small.Columns+i%m.Columns*small.Columns/m.Columns]
		if math.IsNaN(*at) || v > *at {
			*at = v
		}
	}
	return small
}

// largest is the largest value of a map.
func (m *Map) largest() float64 {
	most := 0.0
	for _, v := range m.Values {
		if v > most {
			most = v
		}
	}
	return most
}

// heatTile is a map at its place.
type heatTile struct {
	Map
	whole Map // before cells were joined
	most  float64
	area  rect // of the cells
	foot  float64
}

func (h *HeatMap) layout(th *theme) (*sheet, error) {
	width := cmp.Or(h.Width, heatWidth)
	if err := errors.Join(checkWidth(width), h.check()); err != nil {
		return nil, err
	}
	tiles := make([]heatTile, len(h.Maps))
	shared := 0.0
	for i, m := range h.Maps {
		tiles[i] = heatTile{Map: m.joined(), whole: m, most: m.largest()}
		shared = max(shared, tiles[i].most)
	}
	if h.Shared {
		for i := range tiles {
			tiles[i].most = shared
		}
	}
	w := newWords(h.Title, h.Subtitle, h.Caption, width, nil)
	bottom := h.place(tiles, width, w.headHeight()+8)
	height := bottom + w.footHeight()
	return &sheet{
		width: width, height: height, title: cmp.Or(h.Title, "Maps"), desc: h.describe(tiles),
		paint: func(c canvas) {
			w.draw(c, th, height)
			for i := range tiles {
				tiles[i].draw(c, th)
			}
		},
	}, nil
}

// place gives every map its place below top and returns where they end.
func (h *HeatMap) place(tiles []heatTile, width, top float64) float64 {
	perRow := h.PerRow
	if perRow <= 0 {
		perRow = min(len(tiles), 3)
	}
	room := (width - 2*margin - heatGap*float64(perRow-1)) / float64(perRow)
	for i := 0; i < len(tiles); i += perRow {
		bottom := top
		for j := i; j < min(i+perRow, len(tiles)); j++ {
			t := &tiles[j]
			left := margin + float64(j-i)*(room+heatGap)
			y := top + lineSpacing*textSize
			if t.Y != "" {
				left += lineSpacing * smallSize
			}
			inner := room - (left - margin - float64(j-i)*(room+heatGap))
			side := min(inner/float64(t.Columns), heatHeight/float64(t.Rows), heatCell)
			tall := side
			if t.Rows == 1 {
				side = inner / float64(t.Columns)
				tall = heatRow
			}
			t.area = rect{left, y, side * float64(t.Columns), tall * float64(t.Rows)}
			t.foot = t.area.bottom() + 4
			if t.X != "" {
				t.foot += lineSpacing * smallSize
			}
			bottom = max(bottom, t.foot+heatBar+lineSpacing*smallSize+6)
		}
		top = bottom + heatGap/2
	}
	return top
}

// draw draws a map, its labels and its scale.
func (t *heatTile) draw(c canvas, th *theme) {
	c.text(point{t.area.x, t.area.y - 6}, shorten(t.Title, textSize, max(t.area.w, 180), true), textStyle{size: textSize, bold: true,
		color: th.ink})
	shades := th.shades()
	cells := make([][]rect, len(shades))
	w, h := t.area.w/float64(t.Columns), t.area.h/float64(t.Rows)
	for i, v := range t.Values {
		if math.IsNaN(v) {
			continue
		}
		shade := 0
		if t.most > 0 {
			shade = min(int(v/t.most*float64(len(shades)-1)+0.5), len(shades)-1)
		}
		cells[shade] = append(cells[shade], rect{t.area.x + float64(i%t.Columns)*w, t.area.y + float64(i/t.Columns)*h, w, h})
	}
	for i, list := range cells {
		c.rects(list, paint{fill: shades[i], tiles: true})
	}
	c.rects([]rect{t.area}, paint{stroke: th.muted, width: 1})
	t.drawLabels(c, th)
	t.drawScale(c, th, shades)
}

// endsRoom is the length of a side from which on there is room for numbers at its ends.
const endsRoom = 110

// drawLabels labels columns and rows, with the numbers of the first and the last one.
func (t *heatTile) drawLabels(c canvas, th *theme) {
	below, beside := t.area.bottom()+lineSpacing*smallSize-2, t.area.x-5
	style := func(anchor anchor, turn float64) textStyle {
		return textStyle{size: smallSize, color: th.muted, anchor: anchor, turn: turn}
	}
	first, last := "0", fmt.Sprint(t.whole.Columns-1)
	room := t.area.w
	if ends := textRoom(first+last, smallSize, false) + 3*labelGap; t.area.w >= endsRoom && !t.Fields {
		room -= ends
		c.text(point{t.area.x, below}, first, style(anchorStart, 0))
		c.text(point{t.area.right(), below}, last, style(anchorEnd, 0))
	}
	c.text(point{t.area.x + t.area.w/2, below}, shorten(t.X, smallSize, room, false), style(anchorMiddle, 0))
	if t.Y == "" {
		return
	}
	last = fmt.Sprint(t.whole.Rows - 1)
	room = t.area.h
	if ends := textRoom(first+last, smallSize, false) + 3*labelGap; t.area.h >= endsRoom && !t.Fields {
		room -= ends
		c.text(point{beside, t.area.y}, first, style(anchorEnd, -90))
		c.text(point{beside, t.area.bottom()}, last, style(anchorStart, -90))
	}
	c.text(point{beside, t.area.y + t.area.h/2}, shorten(t.Y, smallSize, room, false), style(anchorMiddle, -90))
}

// drawScale draws the bar that maps colors to values.
func (t *heatTile) drawScale(c canvas, th *theme, shades []color.NRGBA) {
	bar := rect{t.area.x, t.foot, max(min(t.area.w, 160), 90), heatBar}
	for i, s := range shades {
		c.rects([]rect{{bar.x + bar.w*float64(i)/float64(len(shades)), bar.y, bar.w / float64(len(shades)), bar.h}}, paint{fill: s, tiles: true})
	}
	c.rects([]rect{bar}, paint{stroke: th.muted, width: 0.75})
	style := textStyle{size: smallSize, color: th.muted}
	y := bar.bottom() + smallSize + 2
	c.text(point{bar.x, y}, "0", style)
	style.anchor = anchorEnd
	c.text(point{bar.right(), y}, printQuantity(t.most, t.Quantity), style)
}

// printQuantity prints a value with its unit.
func printQuantity(v float64, q Quantity) string {
	switch q {
	case Time:
		return printTime(v)
	case Percent:
		return fmt.Sprintf("%.3g %%", v)
	case Bytes:
		if v < 1<<62 {
			return unit.Size(v).Short()
		}
	}
	if v == math.Trunc(v) && v < 1e15 {
		return grouped(fmt.Sprintf("%.0f", v))
	}
	return fmt.Sprintf("%.4g", v)
}

// describe describes in words what the figure shows.
func (h *HeatMap) describe(tiles []heatTile) string {
	text := ""
	for _, s := range []string{h.Subtitle, h.Caption} {
		if s != "" {
			text += s + ". "
		}
	}
	for i := range tiles {
		t := &tiles[i]
		text += fmt.Sprintf("%s: %d columns, %d rows, up to %s. ", t.Title, t.whole.Columns, t.whole.Rows, printQuantity(t.most, t.Quantity))
	}
	return text
}
