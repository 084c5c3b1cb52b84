package plot

import "cmp"

// legendEntry is one key of a legend with its name.
type legendEntry struct {
	name  string
	width float64                // of the key; 0 means keyWidth
	draw  func(c canvas, r rect) // draws the key into the rectangle
}

func (e legendEntry) keyWidth() float64 { return cmp.Or(e.width, keyWidth) }

// legend is a list of entries, broken into rows that fit the width. It is above the data and
// never covers it.
type legend struct {
	entries []legendEntry
	places  []point // of the upper left corner of each key, relative to the legend
	height  float64
}

const (
	keyWidth  = 26
	boxWidth  = 16 // of keys that are boxes or markers
	keyHeight = 12
	keyGap    = 7 // from the key to the name
	legendRow = 19
)

func newLegend(entries []legendEntry, width float64) legend {
	l := legend{entries: entries}
	if len(entries) == 0 {
		return l
	}
	x, y := 0.0, 0.0
	for i, e := range l.entries {
		e.name = shorten(e.name, textSize, width-e.keyWidth()-keyGap, false)
		l.entries[i] = e
		need := e.keyWidth() + keyGap + textRoom(e.name, textSize, false)
		if x > 0 && x+need > width {
			x, y = 0, y+legendRow
		}
		l.places = append(l.places, point{x, y})
		x += need + 14
	}
	l.height = y + legendRow
	return l
}

func (l legend) draw(c canvas, th *theme, at point) {
	for i, e := range l.entries {
		p := point{at.x + l.places[i].x, at.y + l.places[i].y}
		e.draw(c, rect{p.x, p.y + (legendRow-keyHeight)/2, e.keyWidth(), keyHeight})
		c.text(point{p.x + e.keyWidth() + keyGap, p.y + legendRow/2 + textSize*capHeight}, e.name, textStyle{size: textSize, color: th.ink})
	}
}
