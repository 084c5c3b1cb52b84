package plot

import (
	"image/color"
	"math"
)

// point is a place on the canvas: x to the right, y downwards.
type point struct{ x, y float64 }

// rect is a rectangle on the canvas, by its upper left corner.
type rect struct{ x, y, w, h float64 }

func (r rect) right() float64  { return r.x + r.w }
func (r rect) bottom() float64 { return r.y + r.h }

// overlaps reports whether the insides of two rectangles overlap.
func (r rect) overlaps(s rect) bool {
	return r.x < s.right() && s.x < r.right() && r.y < s.bottom() && s.y < r.bottom()
}

// paint is how a shape looks. A color whose alpha is 0 draws nothing.
type paint struct {
	fill   color.NRGBA
	stroke color.NRGBA
	width  float64   // of the stroke
	dash   []float64 // lengths of strokes and gaps in turn; nil is a solid line
	tiles  bool      // rectangles that touch others: their edges are those of pixels, so that nothing shines through between them
}

// anchor is the end of a text that is at its place.
type anchor uint8

const (
	anchorStart anchor = iota
	anchorMiddle
	anchorEnd
)

// textStyle is how a text looks. Its place is on the base line.
type textStyle struct {
	size   float64
	bold   bool
	anchor anchor
	turn   float64 // degrees, clockwise, about the place
	color  color.NRGBA
}

// canvas is what figures are drawn on. Shapes that look alike are handed over together: one
// element of an SVG file, one pass of the rasterizer. Without any, nothing is drawn.
type canvas interface {
	// path draws lines, or with closed polygons, through the points of each part.
	path(parts [][]point, closed bool, p paint)
	rects(rs []rect, p paint)
	circles(centers []point, radius float64, p paint)
	text(at point, s string, st textStyle)
	// clip limits what follows to r, until unclip. Clips do not nest.
	clip(r rect)
	unclip()
}

// line draws one straight line.
func line(c canvas, a, b point, p paint) {
	c.path([][]point{{a, b}}, false, p)
}

// crisp returns the middle of the unit cell at v, where a line of width 1 has sharp edges.
func crisp(v float64) float64 { return math.Floor(v) + 0.5 }

// hatch draws diagonals over each rectangle, so that it can be distinguished without color. Lines
// start at multiples of the distance on the page, so neighboring boxes line up.
func hatch(c canvas, rs []rect, distance float64, p paint) {
	var parts [][]point
	for _, r := range rs {
		// On a diagonal x + y is constant.
		first := math.Ceil((r.x+r.y)/distance) * distance
		for s := first; s < r.right()+r.bottom(); s += distance {
			a := point{math.Min(r.right(), s-r.y), 0}
			a.y = s - a.x
			b := point{math.Max(r.x, s-r.bottom()), 0}
			b.y = s - b.x
			if a.x-b.x > 0.3 {
				parts = append(parts, []point{a, b})
			}
		}
	}
	c.path(parts, false, p)
}
