package plot

// legendEntry is one key of a legend with its name.
type legendEntry struct {
	name string
	draw func(c canvas, r rect) // draws the key into the rectangle
}

// legend is a list of entries, broken into rows that fit the width. It stands above the data and
// never covers it.
type legend struct {
	entries []legendEntry
	places  []point // of the upper left corner of each key, relative to the legend
	height  float64
}

const (
	keyWidth  = 26
	keyHeight = 12
	legendRow = 19
)

func newLegend(entries []legendEntry, width float64) legend {
	l := legend{entries: entries}
	if len(entries) == 0 {
		return l
	}
	x, y := 0.0, 0.0
	for i, e := range l.entries {
		e.name = shorten(e.name, textSize, width-keyWidth-7, false)
		l.entries[i] = e
		need := keyWidth + 7 + textWidth(e.name, textSize, false)
		if x > 0 && x+need > width {
			x, y = 0, y+legendRow
		}
		l.places = append(l.places, point{x, y})
		x += need + 20
	}
	l.height = y + legendRow
	return l
}

func (l legend) draw(c canvas, th *theme, at point) {
	for i, e := range l.entries {
		p := point{at.x + l.places[i].x, at.y + l.places[i].y}
		e.draw(c, rect{p.x, p.y + (legendRow-keyHeight)/2, keyWidth, keyHeight})
		c.text(point{p.x + keyWidth + 7, p.y + legendRow/2 + textSize*capHeight}, e.name, textStyle{size: textSize, color: th.ink})
	}
}
