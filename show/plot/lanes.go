package plot

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
)

// Lanes shows what rows do over time: each row is cut into columns of equal length, each of one kind.
type Lanes struct {
	Title, Subtitle, Caption string
	Kinds                    []LaneKind
	Rows                     []string // labels, from the top
	Columns                  int
	Cells                    []uint8 // kinds, by row, then column
	End                      float64 // ps, from 0 on
	Width                    float64 // 0: 860
}

// LaneKind is a kind of cells, with its color on a light and on a dark ground as #RRGGBB.
type LaneKind struct{ Name, Light, Dark string }

const (
	laneWidth  = 860
	laneHeight = 220 // of all rows, if they are not very few
	mostLane   = 26  // height of a row
)

func (l *Lanes) labels() (title, subtitle, caption *string) { return &l.Title, &l.Subtitle, &l.Caption }

// check refuses what cannot be drawn.
func (l *Lanes) check() error {
	switch {
	case len(l.Rows) == 0 || l.Columns < 1 || len(l.Cells) != len(l.Rows)*l.Columns:
		return fmt.Errorf("%d cells for %d rows and %d columns", len(l.Cells), len(l.Rows), l.Columns)
	case !(l.End > 0) || math.IsInf(l.End, 0):
		return errors.New("no time passes")
	}
	for i, k := range l.Cells {
		if int(k) >= len(l.Kinds) {
			return fmt.Errorf("cell %d is of kind %d; there are %d", i, k, len(l.Kinds))
		}
	}
	return nil
}

func (l *Lanes) layout(th *theme) (*sheet, error) {
	width := cmp.Or(l.Width, laneWidth)
	if err := errors.Join(checkWidth(width), l.check()); err != nil {
		return nil, err
	}
	x, err := Axis{Label: "time", Quantity: Time, Max: l.End}.resolve(interval{0, l.End}, 0)
	if err != nil {
		return nil, err
	}
	colors := make([]color.NRGBA, len(l.Kinds))
	var entries []legendEntry
	for i, k := range l.Kinds {
		if colors[i], err = k.color(th); err != nil {
			return nil, err
		}
		draw := func(c canvas, r rect) { c.rects([]rect{r}, paint{fill: colors[i]}) }
		entries = append(entries, legendEntry{name: k.Name, width: boxWidth, draw: draw})
	}
	w := newWords(l.Title, l.Subtitle, l.Caption, width, entries)
	labels := 0.0
	for _, r := range l.Rows {
		labels = max(labels, textRoom(r, textSize, false))
	}
	left := margin + labels + 8
	pitch := min(mostLane, max(2, laneHeight/float64(len(l.Rows))))
	p := panel{th: th, x: x}
	p.place(rect{left, w.headHeight() + 8, width - left - margin - 8, pitch * float64(len(l.Rows))})
	height := p.frame.bottom() + p.xLabelHeight() + w.footHeight()
	return &sheet{
		width: width, height: height, title: cmp.Or(l.Title, "Timeline"),
		desc: strings.TrimSpace(fmt.Sprintf("Timeline: %d rows, time to the right. %s\n%s", len(l.Rows), l.Subtitle, l.Caption)),
		paint: func(c canvas) {
			w.draw(c, th, height)
			l.draw(c, &p, pitch, colors)
		},
	}, nil
}

// color is the color on the ground of a theme.
func (k LaneKind) color(th *theme) (color.NRGBA, error) {
	text := k.Light
	if th.ground.R < 128 {
		text = k.Dark
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 16, 24)
	if err != nil || len(text) != 7 {
		return color.NRGBA{}, fmt.Errorf("kind %q: %q is not a color as #RRGGBB", k.Name, text)
	}
	return rgb(uint32(v)), nil
}

// draw draws the cells, those of a kind that follow each other as one, and the axes.
func (l *Lanes) draw(c canvas, p *panel, pitch float64, colors []color.NRGBA) {
	f := p.frame
	cell, gap := f.w/float64(l.Columns), 0.0
	if pitch >= 5 {
		gap = 1
	}
	boxes := make([][]rect, len(colors))
	for row := range l.Rows {
		line := l.Cells[row*l.Columns:][:l.Columns]
		for begin := 0; begin < l.Columns; {
			end := begin + 1
			for end < l.Columns && line[end] == line[begin] {
				end++
			}
			k := line[begin]
			boxes[k] = append(boxes[k], rect{f.x + float64(begin)*cell, f.y + float64(row)*pitch, float64(end-begin) * cell, pitch - gap})
			begin = end
		}
	}
	for k, list := range boxes {
		c.rects(list, paint{fill: colors[k]})
	}
	step := max(1, int(math.Ceil(textSize*lineSpacing/pitch)))
	for row := 0; row < len(l.Rows); row += step {
		at := point{f.x - 8, f.y + (float64(row)+0.5)*pitch + textSize*capHeight}
		c.text(at, l.Rows[row], textStyle{size: textSize, color: p.th.muted, anchor: anchorEnd})
	}
	ticks, unit := p.x.ticks(f.w)
	var marks [][]point
	for _, t := range ticks {
		x := crisp(p.x.at(t.value))
		marks = append(marks, []point{{x, crisp(f.bottom())}, {x, crisp(f.bottom()) + tickLength}})
	}
	c.path(marks, false, paint{stroke: p.th.muted, width: 1})
	p.drawXLabels(c, ticks, axisTitle(p.x, unit))
}
