package plot

import (
	"errors"
	"fmt"
	"strings"
)

// Stack is a figure of several charts above each other over one x axis: what a quantity does to
// several others. Layers of the same name in different parts are listed once in the legend; they
// should have the same slot.
type Stack struct {
	Title, Subtitle, Caption string
	X                        Axis
	Parts                    []StackPart // from top to bottom
	Width, Height            float64     // 0: 720, and 240 for each part of weight 1
}

// StackPart is one of the charts of a Stack.
type StackPart struct {
	Y      Axis
	Layers []Layer
	Weight float64 // its share of the height; 0 means 1
}

// Sizes of a stack.
const (
	stackHeight = 240 // of a part
	stackGap    = 18  // between two parts
	leastPart   = 90  // height of a frame below which a stack grows
)

func (s *Stack) layout(th *theme) (*sheet, error) {
	weights := 0.0
	axes := []Axis{s.X}
	for _, p := range s.Parts {
		weights += orDefault(p.Weight, 1)
		axes = append(axes, p.Y)
	}
	width, height := orDefault(s.Width, chartWidth), orDefault(s.Height, stackHeight*weights)
	if err := errors.Join(checkWidth(width), checkHeight(height), labelled(axes...)); err != nil {
		return nil, err
	}
	panels, err := s.panels(th)
	if err != nil {
		return nil, fmt.Errorf("stack %q: %w", s.Title, err)
	}
	w := newWords(s.Title, s.Subtitle, s.Caption, width)
	leg := newLegend(mergedLegend(panels), width-2*margin)
	top := w.headHeight() + leg.height + 10
	last := panels[len(panels)-1]
	below := last.xLabelHeight() + w.footHeight()
	free := height - top - below - stackGap*float64(len(panels)-1)
	for _, p := range s.Parts {
		if least := leastPart * weights / orDefault(p.Weight, 1); free < least {
			height += least - free
			free = least
		}
	}
	left := 0.0
	for i, p := range panels {
		left = max(left, margin+p.yLabelWidth(free*orDefault(s.Parts[i].Weight, 1)/weights))
	}
	y := top
	for i, p := range panels {
		h := free * orDefault(s.Parts[i].Weight, 1) / weights
		p.place(rect{left, y, width - left - rightSpace(p.x, width-left), h})
		y += h + stackGap
	}
	return &sheet{
		width: width, height: height, title: orDefault(s.Title, "Charts"), desc: stackDescription(s.Subtitle, s.Caption, panels),
		paint: func(c canvas) {
			w.draw(c, th, height)
			leg.draw(c, th, point{margin, w.headHeight() + 2})
			for _, p := range panels {
				p.draw(c)
			}
		},
	}, nil
}

// panels makes the parts, all with the same range of x.
func (s *Stack) panels(th *theme) ([]*panel, error) {
	if len(s.Parts) == 0 {
		return nil, errors.New("there is nothing to draw: no parts")
	}
	var panels []*panel
	x := emptyInterval()
	for _, part := range s.Parts {
		p, err := newPanel(th, s.X, part.Y, part.Layers)
		if err != nil {
			return nil, err
		}
		x.add(p.x.lo)
		x.add(p.x.hi)
		panels = append(panels, p)
	}
	for _, p := range panels {
		p.x.interval = x
		p.noX = true
	}
	panels[len(panels)-1].noX = false
	return panels, nil
}

// mergedLegend lists the named layers of all panels, each name once.
func mergedLegend(panels []*panel) []legendEntry {
	var list []legendEntry
	listed := map[string]bool{}
	for _, p := range panels {
		for _, e := range p.legendEntries() {
			if !listed[e.name] {
				listed[e.name] = true
				list = append(list, e)
			}
		}
	}
	return list
}

func stackDescription(subtitle, caption string, panels []*panel) string {
	parts := []string{description(subtitle, caption, panels[0])}
	for _, p := range panels[1:] {
		parts = append(parts, description("", "", p))
	}
	return strings.Join(parts, " ")
}
