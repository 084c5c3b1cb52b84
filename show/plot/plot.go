// Package plot draws the figures of this field as SVG and PNG: charts of lines, steps, points,
// bands, bars and box plots, also above each other, message diagrams of small runs, finish-time
// profiles of large ones.
//
// A figure is plain data; the caller turns results into it. Both formats are drawn by the same
// code on a small canvas, so they show the same. Equal data gives equal bytes. Colors are those
// of Okabe and Ito, which the color-blind can distinguish; dashes, markers and hatches repeat what
// the colors show, so that a figure survives a grayscale printer.
//
// A figure that cannot be drawn honestly is refused with an error: values that are not finite,
// values without a logarithm on a logarithmic axis, a message diagram too large to be read.
package plot

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"
)

// Figure is a picture as data: *Chart, *Stack, *HeatMap, *Lanes, *MessageDiagram or *FinishProfile.
type Figure interface {
	// layout checks the data and decides where everything goes.
	layout(th *theme) (*sheet, error)
	labels() (title, subtitle, caption *string)
}

// Label sets the texts of a figure. What is empty leaves the text of the figure as it is.
func Label(fig Figure, title, subtitle, caption string) {
	t, s, c := fig.labels()
	*t, *s, *c = cmp.Or(title, *t), cmp.Or(subtitle, *s), cmp.Or(caption, *c)
}

func (ch *Chart) labels() (title, subtitle, caption *string) {
	return &ch.Title, &ch.Subtitle, &ch.Caption
}

func (s *Stack) labels() (title, subtitle, caption *string) { return &s.Title, &s.Subtitle, &s.Caption }

func (h *HeatMap) labels() (title, subtitle, caption *string) {
	return &h.Title, &h.Subtitle, &h.Caption
}

func (d *MessageDiagram) labels() (title, subtitle, caption *string) {
	return &d.Title, &d.Subtitle, &d.Caption
}

func (p *FinishProfile) labels() (title, subtitle, caption *string) {
	return &p.Title, &p.Subtitle, &p.Caption
}

// sheet is a figure with all places decided, ready to be painted.
type sheet struct {
	width, height float64
	title, desc   string // for readers that cannot see the picture
	paint         func(c canvas)
}

// Options are how a figure is rendered. The zero value is right for a file sent to a colleague.
type Options struct {
	Dark  bool    // light ink on a dark ground; the default is a white ground
	Scale float64 // pixels of a PNG per unit of length, 0.5 to 8; 0 means 2
}

// Format is a file format that figures can be written in.
type Format string

// The formats.
const (
	SVG Format = "svg"
	PNG Format = "png"
)

// FormatOf returns the format of a file name (by its suffix) or from the bare name of a format.
func FormatOf(name string) (Format, error) {
	suffix := strings.TrimPrefix(cmp.Or(path.Ext(name), name), ".")
	if f := Format(strings.ToLower(suffix)); f == SVG || f == PNG {
		return f, nil
	}
	return "", fmt.Errorf("no figure format for %q; possible are .svg and .png", name)
}

// Render draws the figure in the format of name, see FormatOf.
func Render(fig Figure, name string, opt Options) ([]byte, error) {
	var b bytes.Buffer
	if err := Write(&b, fig, name, opt); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Write draws the figure to w in the format of name, see FormatOf. Nothing is
// written if the figure cannot be drawn.
func Write(w io.Writer, fig Figure, name string, opt Options) error {
	format, err := FormatOf(name)
	if err != nil {
		return err
	}
	opt.Scale = cmp.Or(opt.Scale, 2)
	if !(opt.Scale >= 0.5 && opt.Scale <= 8) {
		return fmt.Errorf("figure scale %g is not in 0.5 to 8", opt.Scale)
	}
	th := &lightTheme
	if opt.Dark {
		th = &darkTheme
	}
	s, err := fig.layout(th)
	if err != nil {
		return err
	}
	if format == SVG {
		return writeSVG(w, s, th)
	}
	return writePNG(w, s, th, opt.Scale)
}

// The range of figure widths and heights.
const (
	minLength = 320
	maxLength = 4000
)

// checkWidth refuses widths that no text fits into or that no page holds.
func checkWidth(width float64) error {
	if !(width >= minLength && width <= maxLength) {
		return fmt.Errorf("figure width %g is not in %d to %d", width, minLength, maxLength)
	}
	return nil
}

// checkHeight refuses heights that no page holds. A figure that is too low grows by itself.
func checkHeight(height float64) error {
	if !(height > 0 && height <= maxLength) {
		return fmt.Errorf("figure height %g is not in 1 to %d", height, maxLength)
	}
	return nil
}
