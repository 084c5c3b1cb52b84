package plot

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/vector"
)

// maxPixels bounds the memory of a PNG (4 bytes each, and as much again for coverage).
const maxPixels = 64 << 20

// pngCanvas draws anti-aliased shapes into an image. Places are scaled on the way in.
type pngCanvas struct {
	img    *image.RGBA
	scale  float64
	window image.Rectangle // the current clip, in pixels
	raster vector.Rasterizer
	mask   []uint8 // coverage of the shape being drawn, reused
}

func writePNG(w io.Writer, s *sheet, th *theme, scale float64) error {
	width, height := math.Ceil(s.width*scale), math.Ceil(s.height*scale)
	if width*height > maxPixels {
		return fmt.Errorf("a PNG of %.0f by %.0f pixels is too large (at most %d million pixels); use a smaller scale or SVG",
			width, height, maxPixels>>20)
	}
	c := &pngCanvas{img: image.NewRGBA(image.Rect(0, 0, int(width), int(height))), scale: scale}
	c.window = c.img.Bounds()
	draw.Draw(c.img, c.window, image.NewUniform(th.ground), image.Point{}, draw.Src)
	s.paint(c)
	return png.Encode(w, c.img)
}

func (c *pngCanvas) clip(r rect) {
	pixels := image.Rect(
		int(math.Floor(r.x*c.scale)), int(math.Floor(r.y*c.scale)),
		int(math.Ceil(r.right()*c.scale)), int(math.Ceil(r.bottom()*c.scale)))
	c.window = c.img.Bounds().Intersect(pixels)
}

func (c *pngCanvas) unclip() { c.window = c.img.Bounds() }

func (c *pngCanvas) path(parts [][]point, closed bool, p paint) {
	scaled := make([][]point, len(parts))
	for i, part := range parts {
		scaled[i] = make([]point, len(part))
		for j, pt := range part {
			scaled[i][j] = point{pt.x * c.scale, pt.y * c.scale}
		}
	}
	if closed {
		c.fill(scaled, p.fill)
	}
	c.stroke(scaled, closed, p)
}

func (c *pngCanvas) rects(rs []rect, p paint) {
	parts := make([][]point, len(rs))
	for i, r := range rs {
		parts[i] = corners(r)
		if p.tiles {
			for k, pt := range parts[i] {
				parts[i][k] = point{math.Round(pt.x*c.scale) / c.scale, math.Round(pt.y*c.scale) / c.scale}
			}
		}
	}
	c.path(parts, true, p)
}

func (c *pngCanvas) circles(centers []point, radius float64, p paint) {
	parts := make([][]point, len(centers))
	for i, center := range centers {
		parts[i] = polygon(center, radius, 20)
	}
	c.path(parts, true, p)
}

// stroke outlines the parts, which are in pixels already.
func (c *pngCanvas) stroke(parts [][]point, closed bool, p paint) {
	if p.stroke.A == 0 || p.width <= 0 {
		return
	}
	width := p.width * c.scale
	var quads [][]point
	for _, part := range parts {
		if closed && len(part) > 0 {
			part = append(part[:len(part):len(part)], part[0])
		}
		if len(p.dash) == 0 {
			quads = strokeLine(quads, part, width, closed)
			continue
		}
		lengths := make([]float64, len(p.dash))
		for i, d := range p.dash {
			lengths[i] = d * c.scale
		}
		for _, piece := range dashes(part, lengths) {
			quads = strokeLine(quads, piece, width, false)
		}
	}
	c.fill(quads, p.stroke)
}

// fill paints polygons in pixels. Where polygons of the same sense of rotation overlap, the paint
// is not doubled.
func (c *pngCanvas) fill(polygons [][]point, ink color.NRGBA) {
	if ink.A == 0 || len(polygons) == 0 {
		return
	}
	area := c.area(polygons)
	if area.Empty() {
		return
	}
	c.raster.Reset(area.Dx(), area.Dy())
	ox, oy := float64(area.Min.X), float64(area.Min.Y)
	for _, polygon := range polygons {
		for i, pt := range polygon {
			x, y := float32(pt.x-ox), float32(pt.y-oy)
			if i == 0 {
				c.raster.MoveTo(x, y)
			} else {
				c.raster.LineTo(x, y)
			}
		}
		c.raster.ClosePath()
	}
	c.compose(area, ink)
}

// area returns the pixels that the polygons can touch, within the window.
func (c *pngCanvas) area(polygons [][]point) image.Rectangle {
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, polygon := range polygons {
		for _, pt := range polygon {
			lo.x, lo.y = math.Min(lo.x, pt.x), math.Min(lo.y, pt.y)
			hi.x, hi.y = math.Max(hi.x, pt.x), math.Max(hi.y, pt.y)
		}
	}
	if lo.x > hi.x {
		return image.Rectangle{}
	}
	w := c.window
	limit := func(v float64, a, b int) int { return int(math.Min(math.Max(v, float64(a)), float64(b))) }
	return image.Rect(
		limit(math.Floor(lo.x), w.Min.X, w.Max.X), limit(math.Floor(lo.y), w.Min.Y, w.Max.Y),
		limit(math.Ceil(hi.x), w.Min.X, w.Max.X), limit(math.Ceil(hi.y), w.Min.Y, w.Max.Y))
}

// compose lays the ink over the area, as far as the rasterizer's shapes cover each pixel.
func (c *pngCanvas) compose(area image.Rectangle, ink color.NRGBA) {
	n := area.Dx() * area.Dy()
	if cap(c.mask) < n {
		c.mask = make([]uint8, n)
	}
	mask := &image.Alpha{Pix: c.mask[:n], Stride: area.Dx(), Rect: image.Rect(0, 0, area.Dx(), area.Dy())}
	c.raster.DrawOp = draw.Src
	c.raster.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	for y := range area.Dy() {
		covers := mask.Pix[y*mask.Stride:][:area.Dx()]
		pixels := c.img.Pix[c.img.PixOffset(area.Min.X, area.Min.Y+y):]
		for x, cover := range covers {
			if cover == 0 {
				continue
			}
			// The ground is opaque, so mixing needs no division by alpha.
			a := uint32(cover) * uint32(ink.A)
			px := pixels[4*x : 4*x+3 : 4*x+3]
			px[0] = mix(px[0], ink.R, a)
			px[1] = mix(px[1], ink.G, a)
			px[2] = mix(px[2], ink.B, a)
		}
	}
}

// mix returns the color between two, where a of 255*255 is all of the new one.
func mix(old, new uint8, a uint32) uint8 {
	const full = 255 * 255
	return uint8((uint32(old)*(full-a) + uint32(new)*a + full/2) / full)
}

func (c *pngCanvas) text(at point, s string, st textStyle) {
	f := faceFor(st.bold)
	k := st.size * c.scale / f.em
	sin, cos := math.Sincos(st.turn * math.Pi / 180)
	if st.turn == -90 {
		sin, cos = -1, 0
	}
	pen := 0.0
	switch st.anchor {
	case anchorMiddle:
		pen = -textWidth(s, st.size, st.bold) / 2 / st.size * f.em
	case anchorEnd:
		pen = -textWidth(s, st.size, st.bold) / st.size * f.em
	}
	var polygons [][]point
	for _, r := range s {
		for _, contour := range f.outline(f.glyphs[r]) {
			outline := flatten(contour)
			for i, p := range outline {
				x, y := (pen+p.x)*k, -p.y*k
				outline[i] = point{at.x*c.scale + x*cos - y*sin, at.y*c.scale + x*sin + y*cos}
			}
			polygons = append(polygons, outline)
		}
		pen += f.advance(r)
	}
	c.fill(polygons, st.color)
}
