package plot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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

func (s *Stack) layout(th *theme) (*sheet, error) { return s.sheet(th, "charts", leastPart) }

// sheet is the layout of a stack, which is called what in messages. It grows if frames would be lower than least.
func (s *Stack) sheet(th *theme, what string, least float64) (*sheet, error) {
	weights := 0.0
	axes := []Axis{s.X}
	for _, p := range s.Parts {
		weights += cmp.Or(p.Weight, 1)
		axes = append(axes, p.Y)
	}
	width, height := cmp.Or(s.Width, chartWidth), cmp.Or(s.Height, stackHeight*weights)
	if err := errors.Join(checkWidth(width), checkHeight(height), labelled(axes...)); err != nil {
		return nil, err
	}
	panels, err := s.panels(th)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", what, s.Title, err)
	}
	w := newWords(s.Title, s.Subtitle, s.Caption, width, mergedLegend(panels))
	top := w.headHeight() + 10
	last := panels[len(panels)-1]
	below := last.xLabelHeight() + w.footHeight()
	free := height - top - below - stackGap*float64(len(panels)-1)
	for _, p := range s.Parts {
		if need := least * weights / cmp.Or(p.Weight, 1); free < need {
			height += need - free
			free = need
		}
	}
	left := 0.0
	for i, p := range panels {
		left = max(left, margin+p.yLabelWidth(free*cmp.Or(s.Parts[i].Weight, 1)/weights))
	}
	y := top
	for i, p := range panels {
		h := free * cmp.Or(s.Parts[i].Weight, 1) / weights
		p.place(rect{left, y, width - left - rightSpace(p.x, width-left), h})
		y += h + stackGap
	}
	return &sheet{
		width: width, height: height, title: cmp.Or(s.Title, strings.ToUpper(what[:1])+what[1:]),
		desc: stackDescription(s.Subtitle, s.Caption, panels),
		paint: func(c canvas) {
			w.draw(c, th, height)
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

// mergedLegend lists the named layers of all panels, without those whose names an earlier panel has.
func mergedLegend(panels []*panel) []legendEntry {
	var list []legendEntry
	for _, p := range panels {
		earlier := list
		for _, e := range p.legendEntries() {
			if !slices.ContainsFunc(earlier, func(l legendEntry) bool { return l.name == e.name }) {
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
