package plot

import (
	"cmp"
	"math"
	"slices"
)

// diagramDrawing is a message diagram with its places.
type diagramDrawing struct {
	*MessageDiagram
	panel    panel // holds the time axis and the frame
	th       *theme
	words    words
	height   float64
	pitch    float64 // distance of rows
	box      float64 // height of the boxes
	finishes bool    // a column of finish times is at the right
	lanes    []lane  // by span
}

func newDiagramDrawing(d *MessageDiagram, th *theme, x span, width float64) *diagramDrawing {
	rows := float64(len(d.Rows))
	g := &diagramDrawing{MessageDiagram: d, th: th, pitch: max(15, min(36, 640/rows), min(60, 320/rows))}
	g.box = min(18, math.Round(g.pitch*0.44))
	g.words = newWords(d.Title, d.Subtitle, d.Caption, width, g.legendEntries())
	g.lanes = assignLanes(d.Spans)
	labels, finish := 0.0, 0.0
	for _, r := range d.Rows {
		labels = math.Max(labels, textRoom(g.rowLabel(r.Label), textSize, false))
		if r.Finished {
			g.finishes = true
			finish = math.Max(finish, textRoom(printTime(float64(r.Finish)), smallSize, false))
		}
	}
	left := margin + textSize*lineSpacing + 6 + labels + 8
	right := margin + 8.0
	if g.finishes {
		right = margin + 12 + math.Max(finish, textRoom(finishHeading, smallSize, false))
	}
	top := g.words.headHeight() + 8
	if g.finishes {
		top += smallSize * lineSpacing
	}
	g.panel = panel{th: th, x: x}
	g.panel.place(rect{left, top, width - left - right, g.pitch*float64(len(d.Rows)) + 4})
	g.height = g.panel.frame.bottom() + g.panel.xLabelHeight() + g.words.footHeight()
	return g
}

const finishHeading = "finish"

// rowLabel shortens labels that would take the place of the diagram.
func (g *diagramDrawing) rowLabel(s string) string { return shorten(s, textSize, 150, false) }

// y returns the middle of a row.
func (g *diagramDrawing) y(row int) float64 {
	return math.Round(g.panel.frame.y + 2 + (float64(row)+0.5)*g.pitch)
}

// spanRect returns the box of a span. Compute boxes are lower than overheads, so that the arrows
// stay visible beside them.
func (g *diagramDrawing) spanRect(i int) rect {
	s := g.Spans[i]
	height := g.box
	if s.Kind == Compute || s.Kind == Blocked {
		height = math.Round(g.box * 0.6)
	}
	a, b := g.panel.x.at(float64(s.Start)), g.panel.x.at(float64(s.End))
	r := rect{a, g.y(s.Row) - height/2, math.Max(b-a, 0.8), height}
	if l := g.lanes[i]; l.of > 1 {
		part := g.box / float64(l.of)
		r.y, r.h = g.y(s.Row)-g.box/2+part*float64(l.index), part
	}
	return r
}

func (g *diagramDrawing) draw(c canvas) {
	g.words.draw(c, g.th, g.height)
	g.drawFrame(c)
	boxes := make([][]rect, spanKinds)
	for i, s := range g.Spans {
		boxes[s.Kind] = append(boxes[s.Kind], g.spanRect(i))
	}
	kind := func(k SpanKind) { drawSpanBoxes(c, boxes[k], g.th.spans[k]) }
	kind(Compute)
	kind(Blocked)
	g.paintArrows(c, g.arrowEnds(), min(7, max(4.5, g.pitch*0.28)))
	kind(Send)
	kind(Receive)
	kind(Noise)
	g.drawFinishes(c)
	g.drawArrowLabels(c, boxes)
}

// drawFrame draws the time axis, the grid and the line of each process with its label.
func (g *diagramDrawing) drawFrame(c canvas) {
	f := g.panel.frame
	ticks, unit := g.panel.x.ticks(f.w)
	var grid, marks, lines [][]point
	for _, t := range ticks {
		x := crisp(g.panel.x.at(t.value))
		grid = append(grid, []point{{x, f.y}, {x, f.bottom()}})
		marks = append(marks, []point{{x, crisp(f.bottom())}, {x, crisp(f.bottom()) + tickLength}})
	}
	c.path(grid, false, paint{stroke: g.th.faint, width: 1})
	for i, r := range g.Rows {
		y := g.y(i)
		lines = append(lines, []point{{f.x, y}, {f.right(), y}})
		at := point{f.x - 8, y + textSize*capHeight}
		c.text(at, g.rowLabel(r.Label), textStyle{size: textSize, anchor: anchorEnd, color: g.th.muted})
	}
	c.path(lines, false, paint{stroke: fade(g.th.muted, 0.75), width: 1, dash: []float64{1, 3}})
	marks = append(marks, []point{{f.x, crisp(f.bottom())}, {f.right(), crisp(f.bottom())}})
	c.path(marks, false, paint{stroke: g.th.ink, width: 1})
	g.panel.drawXLabels(c, ticks, axisTitle(g.panel.x, unit))
	middle := point{margin + textSize*0.75, f.y + f.h/2}
	c.text(middle, shorten(cmp.Or(g.RowsLabel, "rank"), textSize, f.h, false),
		textStyle{size: textSize, anchor: anchorMiddle, turn: -90, color: g.th.ink})
}

// drawSpanBoxes fills and outlines boxes; those too narrow for an outline are only filled.
func drawSpanBoxes(c canvas, boxes []rect, l spanLook) {
	var wide, narrow []rect
	for _, r := range boxes {
		if r.w >= 3 && r.h >= 3 {
			wide = append(wide, rect{r.x + 0.5, r.y + 0.5, r.w - 1, r.h - 1}) // the outline stays inside
		} else {
			narrow = append(narrow, r)
		}
	}
	fill := l.fill
	if l.hatch.A > 0 {
		fill = l.edge // no room for a hatch
	}
	c.rects(narrow, paint{fill: fill})
	c.rects(wide, paint{fill: l.fill})
	if l.hatch.A > 0 {
		hatch(c, wide, 5, paint{stroke: l.hatch, width: 1.2})
	}
	c.rects(wide, paint{stroke: l.edge, width: 1})
}

// finishSize is half the height of a finish mark.
func (g *diagramDrawing) finishSize() float64 { return g.box/2 + 2 }

// drawFinishes marks the end of each process and prints it at the right.
func (g *diagramDrawing) drawFinishes(c canvas) {
	if !g.finishes {
		return
	}
	right := g.panel.frame.right() + 12
	c.text(point{right, g.panel.frame.y - 3}, finishHeading, textStyle{size: smallSize, color: g.th.muted})
	var marks [][]point
	for i, r := range g.Rows {
		if !r.Finished {
			continue
		}
		x, y := g.panel.x.at(float64(r.Finish)), g.y(i)
		marks = append(marks, []point{{x, y - g.finishSize()}, {x, y + g.finishSize()}})
		c.text(point{right, y + smallSize*capHeight}, printTime(float64(r.Finish)), textStyle{size: smallSize, color: g.th.muted})
	}
	c.path(marks, false, paint{stroke: g.th.ink, width: 2})
}

// legendEntries lists the kinds that occur.
func (g *diagramDrawing) legendEntries() []legendEntry {
	var entries []legendEntry
	for kind := range spanKinds {
		if !slices.ContainsFunc(g.Spans, func(s Span) bool { return s.Kind == kind }) {
			continue
		}
		entries = append(entries, legendEntry{name: spanNames[kind], width: boxWidth, draw: func(c canvas, r rect) {
			drawSpanBoxes(c, []rect{r}, g.th.spans[kind])
		}})
	}
	if len(g.Arrows) > 0 {
		entries = append(entries, legendEntry{name: "message", draw: func(c canvas, r rect) {
			g.paintArrows(c, [][2]point{{{r.x, r.y + 1}, {r.right(), r.bottom() - 1}}}, 6)
		}})
	}
	if slices.ContainsFunc(g.Rows, func(r DiagramRow) bool { return r.Finished }) {
		entries = append(entries, legendEntry{name: finishHeading, width: 4, draw: func(c canvas, r rect) {
			line(c, point{r.x + r.w/2, r.y - 1}, point{r.x + r.w/2, r.bottom() + 1}, paint{stroke: g.th.ink, width: 2})
		}})
	}
	return entries
}
