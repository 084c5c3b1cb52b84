package plot

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Chart is a figure of layers in one pair of axes.
type Chart struct {
	Title, Subtitle, Caption string
	X, Y                     Axis
	Layers                   []Layer
	Width, Height            float64 // 0: 720 and 440; texts that need more make it higher
}

const (
	chartWidth  = 720
	chartHeight = 440
	leastPlot   = 170  // height of a frame below which a chart grows
	defaultAir  = 0.05 // share of an axis beyond the data
)

func (ch *Chart) layout(th *theme) (*sheet, error) {
	s := Stack{
		Title: ch.Title, Subtitle: ch.Subtitle, Caption: ch.Caption, X: ch.X, Parts: []StackPart{{Y: ch.Y, Layers: ch.Layers}},
		Width: ch.Width, Height: cmp.Or(ch.Height, chartHeight),
	}
	return s.sheet(th, "chart", leastPlot)
}

// rightSpace keeps half of the last tick label of the x axis inside the figure.
func rightSpace(x span, width float64) float64 {
	ticks, _ := x.ticks(width)
	space := 0.0
	for _, t := range ticks {
		space = max(space, textRoom(t.label, textSize, false)/2)
	}
	return max(margin, space+4)
}

// newPanel checks the layers and decides ranges and slots.
func newPanel(th *theme, x, y Axis, layers []Layer) (*panel, error) {
	p := &panel{th: th, layers: layers}
	if len(layers) == 0 {
		return nil, errors.New("there is nothing to draw: no layers")
	}
	xs, ys := emptyInterval(), emptyInterval()
	airX := 0.0 // without markers, the curves may touch the ends of the x axis
	used := map[int]bool{}
	for _, l := range layers {
		if err := l.ranges(&xs, &ys); err != nil {
			return nil, err
		}
		_, slot := l.base()
		used[slot] = true
		switch l := l.(type) {
		case *Points:
			airX = max(airX, defaultAir)
		case *Line:
			if l.Marks {
				airX = max(airX, defaultAir)
			}
		case *Boxes:
			airX = max(airX, min(0.5/float64(max(len(l.X)-1, 1)), 0.3))
		case *Bars:
			if l.Sideways {
				x.FromZero, airX = x.Scale == Linear, max(airX, defaultAir)
			} else {
				y.FromZero = y.Scale == Linear
			}
		}
	}
	next := 1
	for _, l := range layers {
		_, slot := l.base()
		if slot == 0 {
			for used[next] {
				next++
			}
			slot = next
			used[slot] = true
		}
		p.slots = append(p.slots, slot)
	}
	var errX, errY error
	p.x, errX = x.resolve(xs, airX)
	p.y, errY = y.resolve(ys, defaultAir)
	return p, errors.Join(errX, errY)
}

// legendEntries lists the named layers.
func (p *panel) legendEntries() []legendEntry {
	var entries []legendEntry
	for i, l := range p.layers {
		if name, _ := l.base(); name != "" {
			slot, width := p.slots[i], 0.0
			switch l.(type) {
			case *Points, *Bars, *Boxes:
				width = boxWidth
			}
			entries = append(entries, legendEntry{name: name, width: width, draw: func(c canvas, r rect) { l.key(c, r, p.th, p.th.look(slot)) }})
		}
	}
	return entries
}

// description describes in words what a panel shows.
func description(subtitle, caption string, p *panel) string {
	var parts []string
	for _, s := range []string{subtitle, caption} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	axes := fmt.Sprintf("%s over %s", cmp.Or(p.y.Label, "y"), cmp.Or(p.x.Label, "x"))
	var names []string
	for _, e := range p.legendEntries() {
		names = append(names, e.name)
	}
	if len(names) > 0 {
		axes += ": " + strings.Join(names, ", ")
	}
	return strings.Join(append(parts, axes), ". ") + "."
}
