package plot

import "math"

// panel is one coordinate system: a frame, two axes and the layers in it.
type panel struct {
	th     *theme
	frame  rect
	x, y   span
	layers []Layer
	slots  []int // by layer
	bare   bool  // no labels at the y axis: it is that of the panel to the left
	noX    bool  // no labels at the x axis: it is that of the panel below
}

// Distances around a frame.
const (
	tickLength = 4
	labelGap   = 7 // from the axis to its tick labels
)

// yLabelWidth is the space to the left of the frame that tick labels and the label of the y axis
// take.
func (p *panel) yLabelWidth(height float64) float64 {
	ticks, unit := p.y.ticks(height)
	widest := 0.0
	for _, t := range ticks {
		widest = math.Max(widest, textRoom(t.label, textSize, false))
	}
	space := labelGap + widest
	if axisTitle(p.y, unit) != "" {
		space += 8 + textSize*lineSpacing
	}
	return space
}

// xLabelHeight is the space below the frame.
func (p *panel) xLabelHeight() float64 {
	space := labelGap + textSize*1.1
	if _, unit := p.x.ticks(p.frame.w); axisTitle(p.x, unit) != "" {
		space += 4 + textSize*lineSpacing
	}
	return space
}

// place puts the panel into its frame.
func (p *panel) place(frame rect) {
	p.frame = frame
	p.x.from, p.x.to = frame.x, frame.right()
	p.y.from, p.y.to = frame.bottom(), frame.y
}

// at returns the place of a pair of values.
func (p *panel) at(x, y float64) point { return point{p.x.at(x), p.y.at(y)} }

// draw paints the panel: grid below, then the data, then the axes.
func (p *panel) draw(c canvas) {
	xTicks, xUnit := p.x.ticks(p.frame.w)
	yTicks, yUnit := p.y.ticks(p.frame.h)
	var grid [][]point
	for _, t := range yTicks {
		y := crisp(p.y.at(t.value))
		grid = append(grid, []point{{p.frame.x, y}, {p.frame.right(), y}})
	}
	for _, t := range xTicks {
		x := crisp(p.x.at(t.value))
		grid = append(grid, []point{{x, p.frame.y}, {x, p.frame.bottom()}})
	}
	c.path(grid, false, paint{stroke: p.th.faint, width: 1})
	c.clip(p.window())
	for i, l := range p.layers {
		l.draw(c, p, p.th.look(p.slots[i]))
	}
	c.unclip()
	p.drawAxes(c, xTicks, yTicks)
	if !p.noX {
		p.drawXLabels(c, xTicks, axisTitle(p.x, xUnit))
	}
	if !p.bare {
		p.drawYLabels(c, yTicks, axisTitle(p.y, yUnit))
	}
}

// window is where data may be drawn. Markers at the ends of an axis that fits the data stay whole;
// of data beyond a given range nothing is seen.
func (p *panel) window() rect {
	air := func(a Axis) float64 {
		if a.Min < a.Max {
			return 1 // lines along the frame keep their width
		}
		return 5
	}
	x, y := air(p.x.Axis), air(p.y.Axis)
	return rect{p.frame.x - x, p.frame.y - y, p.frame.w + 2*x, p.frame.h + 2*y}
}

// axisTitle joins the label of an axis and its unit.
func axisTitle(s span, unit string) string {
	switch {
	case s.Label == "":
		return unit
	case unit == "":
		return s.Label
	default:
		return s.Label + " (" + unit + ")"
	}
}

func (p *panel) drawAxes(c canvas, xTicks, yTicks []tick) {
	left, bottom := crisp(p.frame.x), crisp(p.frame.bottom())
	lines := [][]point{{{left, p.frame.y}, {left, bottom}, {p.frame.right(), bottom}}}
	for _, t := range xTicks {
		x := crisp(p.x.at(t.value))
		lines = append(lines, []point{{x, bottom}, {x, bottom + tickLength}})
	}
	for _, v := range p.x.minorTicks() {
		x := crisp(p.x.at(v))
		lines = append(lines, []point{{x, bottom}, {x, bottom + tickLength/2}})
	}
	if !p.bare {
		for _, t := range yTicks {
			y := crisp(p.y.at(t.value))
			lines = append(lines, []point{{left - tickLength, y}, {left, y}})
		}
		for _, v := range p.y.minorTicks() {
			y := crisp(p.y.at(v))
			lines = append(lines, []point{{left - tickLength/2, y}, {left, y}})
		}
	}
	c.path(lines, false, paint{stroke: p.th.ink, width: 1})
	if p.cut() && !p.bare {
		p.drawCut(c, point{left, bottom})
	}
}

// cut reports whether the y axis starts above 0 without being logarithmic. Lengths then must not be
// compared by eye, and the figure states it.
func (p *panel) cut() bool { return p.y.Scale == Linear && p.y.lo > 0 }

// drawCut draws the mark of a cut axis: a gap between two slanted strokes.
func (p *panel) drawCut(c canvas, corner point) {
	y := corner.y - 9
	gap := []point{{corner.x - 5, y + 3.5}, {corner.x + 5, y - 0.5}, {corner.x + 5, y - 4.5}, {corner.x - 5, y - 0.5}}
	c.path([][]point{gap}, true, paint{fill: p.th.ground})
	c.path([][]point{{gap[0], gap[1]}, {gap[3], gap[2]}}, false, paint{stroke: p.th.ink, width: 1.2})
}

// drawXLabels writes every n-th tick label, with the smallest n that leaves a gap between them.
func (p *panel) drawXLabels(c canvas, ticks []tick, title string) {
	y := p.frame.bottom() + labelGap + textSize*0.85
	width := func(i int) float64 { return textRoom(ticks[i].label, textSize, false) }
	stride := 1
	for ; stride < len(ticks); stride++ {
		free := true
		for i := stride; i < len(ticks) && free; i += stride {
			distance := p.x.at(ticks[i].value) - p.x.at(ticks[i-stride].value)
			free = distance >= (width(i)+width(i-stride))/2+10
		}
		if free {
			break
		}
	}
	for i := 0; i < len(ticks); i += stride {
		c.text(point{p.x.at(ticks[i].value), y}, ticks[i].label, textStyle{size: textSize, anchor: anchorMiddle, color: p.th.muted})
	}
	if title != "" {
		at := point{p.frame.x + p.frame.w/2, y + 4 + textSize*lineSpacing}
		c.text(at, shorten(title, textSize, p.frame.w+20, false), textStyle{size: textSize, anchor: anchorMiddle, color: p.th.ink})
	}
}

func (p *panel) drawYLabels(c canvas, ticks []tick, title string) {
	widest := 0.0
	for _, t := range ticks {
		widest = math.Max(widest, textRoom(t.label, textSize, false))
		at := point{p.frame.x - labelGap, p.y.at(t.value) + textSize*capHeight}
		c.text(at, t.label, textStyle{size: textSize, anchor: anchorEnd, color: p.th.muted})
	}
	if title == "" {
		return
	}
	if p.cut() {
		const warning = ", not from 0"
		if textRoom(title+warning, textSize, false) <= p.frame.h {
			title += warning
		}
	}
	at := point{p.frame.x - labelGap - widest - 8 - textSize*0.25, p.frame.y + p.frame.h/2}
	c.text(at, shorten(title, textSize, p.frame.h, false), textStyle{size: textSize, anchor: anchorMiddle, turn: -90, color: p.th.ink})
}
