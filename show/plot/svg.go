package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"slackline/internal/plain"
)

// fontFamily asks for the reader's own sans-serif font; no file embeds one.
const fontFamily = "system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif"

// baseSize is the font size that SVG texts inherit.
const baseSize = 12

// svgCanvas writes SVG elements. It uses no ids, so that several figures fit into one page.
type svgCanvas struct {
	buf bytes.Buffer
}

func writeSVG(w io.Writer, s *sheet, th *theme) error {
	var c svgCanvas
	width, height := decimal(s.width), decimal(s.height)
	fmt.Fprintf(&c.buf, `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%s" height="%s" viewBox="0 0 %s %s" font-family="%s" font-size="%d">`+"\n",
		width, height, width, height, fontFamily, baseSize)
	fmt.Fprintf(&c.buf, "<title>%s</title>\n<desc>%s</desc>\n", escape(s.title), escape(s.desc))
	c.rects([]rect{{0, 0, s.width, s.height}}, paint{fill: th.ground})
	s.paint(&c)
	c.buf.WriteString("</svg>\n")
	_, err := w.Write(c.buf.Bytes())
	return err
}

func (c *svgCanvas) path(parts [][]point, closed bool, p paint) {
	if len(parts) == 0 {
		return
	}
	c.buf.WriteString(`<path d="`)
	for _, part := range parts {
		c.trace(part)
		if closed {
			c.buf.WriteByte('z')
		}
	}
	c.buf.WriteByte('"')
	if !closed {
		p.fill = color.NRGBA{}
	}
	c.finish(p)
}

// trace writes one part of a path: the first point absolute, the others relative, all in whole
// hundredths, so that roundings do not add up.
func (c *svgCanvas) trace(part []point) {
	var x, y int64
	for i, pt := range part {
		nx, ny := hundredths(pt.x), hundredths(pt.y)
		dx, dy := nx-x, ny-y
		x, y = nx, ny
		switch {
		case i == 0:
			c.command('M', nx, ny)
		case dy == 0:
			c.command('h', dx)
		case dx == 0:
			c.command('v', dy)
		default:
			c.command('l', dx, dy)
		}
	}
}

// command writes one letter of a path and its numbers.
func (c *svgCanvas) command(letter byte, numbers ...int64) {
	c.buf.WriteByte(letter)
	for i, n := range numbers {
		if i > 0 && n >= 0 {
			c.buf.WriteByte(' ')
		}
		c.buf.WriteString(fixed(n))
	}
}

func (c *svgCanvas) rects(rs []rect, p paint) {
	if len(rs) == 1 {
		r := rs[0]
		fmt.Fprintf(&c.buf, `<rect x="%s" y="%s" width="%s" height="%s"`, decimal(r.x), decimal(r.y), decimal(r.w), decimal(r.h))
		c.finish(p)
		return
	}
	parts := make([][]point, len(rs))
	for i, r := range rs {
		parts[i] = corners(r)
	}
	c.path(parts, true, p)
}

func (c *svgCanvas) circles(centers []point, radius float64, p paint) {
	if len(centers) == 1 {
		fmt.Fprintf(&c.buf, `<circle cx="%s" cy="%s" r="%s"`, decimal(centers[0].x), decimal(centers[0].y), decimal(radius))
		c.finish(p)
		return
	}
	c.buf.WriteString(`<path d="`)
	if p.stroke.A == 0 {
		// A line of no length with round ends is a disc, in the fewest characters.
		for _, pt := range centers {
			c.command('M', hundredths(pt.x), hundredths(pt.y))
			c.buf.WriteString("h0")
		}
		c.buf.WriteString(`" stroke-linecap="round"`)
		c.finish(paint{stroke: p.fill, width: 2 * radius})
		return
	}
	r := hundredths(radius)
	for _, pt := range centers {
		c.command('M', hundredths(pt.x)-r, hundredths(pt.y))
		c.command('a', r, r, 0, 100, 0, 2*r, 0)
		c.command('a', r, r, 0, 100, 0, -2*r, 0)
	}
	c.buf.WriteByte('"')
	c.finish(p)
}

func (c *svgCanvas) text(at point, s string, st textStyle) {
	x, y := decimal(at.x), decimal(at.y)
	fmt.Fprintf(&c.buf, `<text x="%s" y="%s" fill="%s"`, x, y, hexColor(st.color))
	if st.size != baseSize {
		fmt.Fprintf(&c.buf, ` font-size="%s"`, decimal(st.size))
	}
	if st.bold {
		c.buf.WriteString(` font-weight="bold"`)
	}
	switch st.anchor {
	case anchorMiddle:
		c.buf.WriteString(` text-anchor="middle"`)
	case anchorEnd:
		c.buf.WriteString(` text-anchor="end"`)
	}
	if st.turn != 0 {
		fmt.Fprintf(&c.buf, ` transform="rotate(%s %s %s)"`, decimal(st.turn), x, y)
	}
	fmt.Fprintf(&c.buf, ">%s</text>\n", escape(s))
}

// clip opens a nested drawing whose edge cuts off what sticks out: no id is needed for that.
func (c *svgCanvas) clip(r rect) {
	x, y, w, h := decimal(r.x), decimal(r.y), decimal(r.w), decimal(r.h)
	fmt.Fprintf(&c.buf, `<svg x="%s" y="%s" width="%s" height="%s" viewBox="%s %s %s %s" overflow="hidden">`+"\n", x, y, w, h, x, y, w, h)
}

func (c *svgCanvas) unclip() { c.buf.WriteString("</svg>\n") }

// finish writes the attributes of a shape and ends it.
func (c *svgCanvas) finish(p paint) {
	if p.fill.A == 0 {
		c.buf.WriteString(` fill="none"`)
	} else {
		c.ink("fill", p.fill)
	}
	if p.stroke.A > 0 {
		c.ink("stroke", p.stroke)
		if p.width != 1 {
			fmt.Fprintf(&c.buf, ` stroke-width="%s"`, decimal(p.width))
		}
		if len(p.dash) > 0 {
			lengths := make([]string, len(p.dash))
			for i, d := range p.dash {
				lengths[i] = decimal(d)
			}
			fmt.Fprintf(&c.buf, ` stroke-dasharray="%s"`, strings.Join(lengths, " "))
		}
	}
	if p.tiles {
		c.buf.WriteString(` shape-rendering="crispEdges"`)
	}
	c.buf.WriteString("/>\n")
}

// ink writes a color as an attribute, and its opacity as another one.
func (c *svgCanvas) ink(attribute string, ink color.NRGBA) {
	fmt.Fprintf(&c.buf, ` %s="%s"`, attribute, hexColor(ink))
	if ink.A < 255 {
		fmt.Fprintf(&c.buf, ` %s-opacity="%s"`, attribute, decimal(float64(ink.A)/255))
	}
}

// hundredths rounds a length to the resolution of the file.
func hundredths(v float64) int64 { return int64(math.Round(v * 100)) }

// decimal prints a length with at most two decimals.
func decimal(v float64) string { return fixed(hundredths(v)) }

// fixed prints a number of hundredths without needless zeros.
func fixed(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	s := sign + strconv.FormatInt(n/100, 10)
	if n%100 == 0 {
		return s
	}
	return s + strings.TrimRight(fmt.Sprintf(".%02d", n%100), "0")
}

func hexColor(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// escape makes any string safe inside XML text and attributes. Control characters become visible; what else XML 1.0
// cannot hold becomes the replacement character.
func escape(s string) string { return xmlText.Replace(plain.Text(strings.ReplaceAll(s, "\r", " "))) }

var xmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\t", " ", "\n", " ",
	"\uFFFE", "\uFFFD", "\uFFFF", "\uFFFD")
