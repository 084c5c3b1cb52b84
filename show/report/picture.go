package report

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"slackline/show/plot"
)

// The widths in which figures are drawn: one for screens and paper, one for a telephone. The page shows the one that
// fits, so that texts stay readable.
const (
	wideFigure   = 760
	narrowFigure = 350
)

// palette collects the colors that differ between light and dark. Figures name them by variables, so that one drawing
// serves both.
type palette struct {
	pairs []colorPair
}

type colorPair struct{ light, dark string }

// variable is the name of a pair of colors.
func (p *palette) variable(light, dark string) string {
	pair := colorPair{light, dark}
	i := slices.Index(p.pairs, pair)
	if i < 0 {
		i = len(p.pairs)
		p.pairs = append(p.pairs, pair)
	}
	return fmt.Sprintf("--f%d", i)
}

// css are the definitions of the variables in one of the two.
func (p *palette) css(dark bool) template.CSS {
	var b strings.Builder
	for i, pair := range p.pairs {
		value := pair.light
		if dark {
			value = pair.dark
		}
		fmt.Fprintf(&b, "--f%d:%s;", i, value)
	}
	return template.CSS(b.String())
}

// color finds the colors of a drawing.
var color = regexp.MustCompile(`#[0-9a-f]{6}`)

// picture draws a figure in one width for light and dark. If it cannot be drawn, the reason is shown.
func (p *palette) picture(f *Figure, width float64) template.HTML {
	fig := sized(f.draw(width), width)
	light, err := plot.Render(fig, string(plot.SVG), plot.Options{})
	if err != nil {
		return template.HTML(`<p class="doubt">It cannot be drawn: ` + template.HTMLEscapeString(err.Error()) + `.</p>`)
	}
	dark, err := plot.Render(fig, string(plot.SVG), plot.Options{Dark: true})
	if err != nil {
		dark = light // what can be drawn in light can be drawn in dark
	}
	return template.HTML(p.merge(light, dark))
}

// sized gives a figure the width of the page. Titles are in the page, not in the picture.
func sized(fig plot.Figure, width float64) plot.Figure {
	switch f := fig.(type) {
	case *plot.Chart:
		f.Title, f.Subtitle = "", ""
		f.Width, f.Height = width, max(260, width*0.52) // narrow ones are steeper
	case *plot.Stack:
		f.Width = width
	case *plot.Lanes:
		f.Width = width
	case *plot.HeatMap:
		f.Width, f.PerRow = width, 2
		if width < 500 {
			f.PerRow = 1
		}
	}
	return fig
}

// merge makes one drawing of two that differ in their colors alone. If they differ in more, the light one is taken,
// on a light ground.
func (p *palette) merge(light, dark []byte) string {
	inLight, inDark := color.FindAllIndex(light, -1), color.FindAllIndex(dark, -1)
	if len(inLight) != len(inDark) || !bytes.Equal(color.ReplaceAll(light, nil), color.ReplaceAll(dark, nil)) {
		return string(light)
	}
	var b strings.Builder
	end := 0
	for i, at := range inLight {
		b.Write(light[end:at[0]])
		end = at[1]
		l, d := string(light[at[0]:at[1]]), string(dark[inDark[i][0]:inDark[i][1]])
		if l == d || !isAttribute(light, at[0]) {
			b.WriteString(l)
			continue
		}
		// The light color follows for programs that take the drawing out of the page.
		fmt.Fprintf(&b, "var(%s,%s)", p.variable(l, d), l)
	}
	b.Write(light[end:])
	return b.String()
}

// isAttribute reports whether a color is in an attribute, not in a text that looks like one.
func isAttribute(svg []byte, at int) bool {
	before := svg[:at]
	return bytes.HasSuffix(before, []byte(`fill="`)) || bytes.HasSuffix(before, []byte(`stroke="`))
}
