package plot

import (
	"math"
	"slices"

	"slackline/model/unit"
)

// arrowEnds returns where each arrow starts and ends: at the edges of the boxes that face each
// other. A message to the own row runs along the upper edge. Messages that pass each other at the same time are moved
// apart.
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
	for i, a := range g.Arrows {
		passed := func(b Arrow) bool { return (a.From < a.To) != (b.From < b.To) && a.From != a.To && b.From != b.To }
		for j, b := range g.Arrows {
			if j != i && passed(b) && min(a.From, a.To) < max(b.From, b.To) && min(b.From, b.To) < max(a.From, a.To) && g.near(a, b) {
				side := apart
				if a.From < a.To {
					side = -apart
				}
				ends[i][0].x, ends[i][1].x = ends[i][0].x+side, ends[i][1].x+side
				break
			}
		}
	}
	return ends
}

// apart is how far messages are moved to the side that would lie on each other.
const apart = 2.5

// near reports whether two messages that run in opposite directions would lie on each other.
func (g *diagramDrawing) near(a, b Arrow) bool {
	at := func(t unit.Duration) float64 { return g.panel.x.at(float64(t)) }
	return math.Abs(at(a.Depart)-at(b.Arrive)) < 2*apart && math.Abs(at(a.Arrive)-at(b.Depart)) < 2*apart
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
// out, as are those of arrows that they would hide; where there are many messages, or most labels have no place, all are.
func (g *diagramDrawing) drawArrowLabels(c canvas, boxes [][]rect) {
	if len(g.Arrows) > maxLabelled {
		return
	}
	var taken []rect
	for _, kind := range boxes {
		taken = append(taken, kind...)
	}
	ends := g.arrowEnds()
	type placed struct {
		text  string
		place rect
	}
	var labels []placed
	wanted := 0
	for i, a := range g.Arrows {
		if a.Label != "" {
			wanted++
		}
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
			labels = append(labels, placed{label, r})
			taken = append(taken, r)
			break
		}
	}
	if 2*len(labels) < wanted {
		return
	}
	for _, l := range labels {
		c.rects([]rect{l.place}, paint{fill: fade(g.th.ground, 0.88)})
		middle := point{l.place.x + l.place.w/2, l.place.y + l.place.h/2 + smallSize*capHeight}
		c.text(middle, l.text, textStyle{size: smallSize, anchor: anchorMiddle, color: g.th.ink})
	}
}

// free reports whether a label fits at a place.
func (g *diagramDrawing) free(r rect, taken []rect) bool {
	f := g.panel.frame
	return r.x >= f.x && r.right() <= f.right() && r.y >= f.y && r.bottom() <= f.bottom() && !slices.ContainsFunc(taken, r.overlaps)
}
