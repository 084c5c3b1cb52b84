package plot

import (
	"math"
	"slices"
)

// arrowEnds returns where each arrow starts and ends: at the edges of the boxes that face each
// other. A message to the own row runs along the upper edge.
func (g *diagramDrawing) arrowEnds() [][2]point {
	ends := make([][2]point, len(g.Arrows))
	for i, a := range g.Arrows {
		from := point{g.panel.x.at(float64(a.Depart)), g.y(a.From)}
		to := point{g.panel.x.at(float64(a.Arrive)), g.y(a.To)}
		half := g.box / 2
		switch {
		case a.From < a.To:
			from.y, to.y = from.y+half, to.y-half
		case a.From > a.To:
			from.y, to.y = from.y-half, to.y+half
		default:
			from.y, to.y = from.y-half-1, to.y-half-1
		}
		ends[i] = [2]point{from, to}
	}
	return ends
}

// paintArrows draws lines with heads of the given length. Many arrows are drawn thinner and
// fainter, so that the picture does not turn black.
func (g *diagramDrawing) paintArrows(c canvas, ends [][2]point, head float64) {
	ink, width := g.th.muted, 1.2
	if n := len(g.Arrows); n > 400 {
		ink, width = fade(ink, 0.55), 0.8
	} else if n > 120 {
		ink, width = fade(ink, 0.8), 1
	}
	var lines, heads [][]point
	for _, e := range ends {
		from, to := e[0], e[1]
		length := math.Hypot(to.x-from.x, to.y-from.y)
		if length < 0.5 {
			continue
		}
		size := math.Min(head, length*0.6)
		ux, uy := (to.x-from.x)/length, (to.y-from.y)/length
		foot := point{to.x - ux*size, to.y - uy*size}
		side := size * 0.36
		lines = append(lines, []point{from, {foot.x + ux*0.5, foot.y + uy*0.5}})
		heads = append(heads, []point{to, {foot.x - uy*side, foot.y + ux*side}, {foot.x + uy*side, foot.y - ux*side}})
	}
	c.path(lines, false, paint{stroke: ink, width: width})
	c.path(heads, true, paint{fill: ink})
}

// maxLabelled is the largest number of messages whose labels are written.
const maxLabelled = 150

// drawArrowLabels writes each label beside its arrow, at the first of a few places along it where
// it covers neither a box nor a label nor leaves the frame. A label without such a place is left
// out, as are those of arrows that they would hide; where there are many messages, all are.
func (g *diagramDrawing) drawArrowLabels(c canvas, boxes [][]rect) {
	if len(g.Arrows) > maxLabelled {
		return
	}
	var taken []rect
	for _, kind := range boxes {
		taken = append(taken, kind...)
	}
	ends := g.arrowEnds()
	for i, a := range g.Arrows {
		if a.Label == "" || math.Hypot(ends[i][1].x-ends[i][0].x, ends[i][1].y-ends[i][0].y) < 3*smallSize {
			continue
		}
		label := shorten(a.Label, smallSize, 120, false)
		width := textRoom(label, smallSize, false)
		for _, t := range []float64{0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8} {
			x := ends[i][0].x + t*(ends[i][1].x-ends[i][0].x)
			y := ends[i][0].y + t*(ends[i][1].y-ends[i][0].y)
			r := rect{x - width/2 - 2, y - smallSize*0.55, width + 4, smallSize * 1.1}
			if !g.free(r, taken) {
				continue
			}
			c.rects([]rect{r}, paint{fill: fade(g.th.ground, 0.88)})
			c.text(point{x, y + smallSize*capHeight}, label, textStyle{size: smallSize, anchor: anchorMiddle, color: g.th.ink})
			taken = append(taken, r)
			break
		}
	}
}

// free reports whether a label fits at a place.
func (g *diagramDrawing) free(r rect, taken []rect) bool {
	f := g.panel.frame
	return r.x >= f.x && r.right() <= f.right() && r.y >= f.y && r.bottom() <= f.bottom() && !slices.ContainsFunc(taken, r.overlaps)
}
