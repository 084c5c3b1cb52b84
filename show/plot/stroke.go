package plot

import "math"

// This file turns lines, circles and curves into polygons for the rasterizer. All polygons have
// the same sense of rotation: those of opposite sense would cut holes into each other.

// corners returns the corners of a rectangle in order.
func corners(r rect) []point {
	return []point{{r.x, r.y}, {r.right(), r.y}, {r.right(), r.bottom()}, {r.x, r.bottom()}}
}

// polygon returns a regular polygon, which approximates a circle if it has many corners.
func polygon(center point, radius float64, n int) []point {
	pts := make([]point, n)
	for i := range pts {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		pts[i] = point{center.x + radius*cos, center.y + radius*sin}
	}
	return pts
}

// strokeLine appends the polygons that cover a line of the given width: one for each piece, and a
// round one at each bend. The ends are cut straight; a ring has none.
func strokeLine(quads [][]point, pts []point, width float64, ring bool) [][]point {
	half := width / 2
	for i := 1; i < len(pts); i++ {
		a, b := pts[i-1], pts[i]
		length := math.Hypot(b.x-a.x, b.y-a.y)
		if length == 0 {
			continue
		}
		nx, ny := -(b.y-a.y)/length*half, (b.x-a.x)/length*half
		quads = append(quads, []point{{a.x - nx, a.y - ny}, {b.x - nx, b.y - ny}, {b.x + nx, b.y + ny}, {a.x + nx, a.y + ny}})
		if i+1 == len(pts) && !ring {
			continue
		}
		next := pts[1]
		if i+1 < len(pts) {
			next = pts[i+1]
		}
		quads = append(quads, bend(a, b, next, half))
	}
	return quads
}

// bend returns the polygon that fills the corner at b: a square if the line turns by a right angle
// between horizontal and vertical pieces (boxes, steps), a disc otherwise.
func bend(a, b, c point, half float64) []point {
	square := (a.x == b.x && b.y == c.y) || (a.y == b.y && b.x == c.x)
	if square {
		return corners(rect{b.x - half, b.y - half, 2 * half, 2 * half})
	}
	return polygon(b, half, 10)
}

// dashes cuts a line into pieces by the lengths of strokes and gaps in turn.
func dashes(pts []point, lengths []float64) [][]point {
	var pieces [][]point
	index, left := 0, lengths[0]
	var piece []point
	for i, pt := range pts {
		if i == 0 {
			piece = []point{pt}
			continue
		}
		a := pts[i-1]
		length := math.Hypot(pt.x-a.x, pt.y-a.y)
		done := 0.0
		for length-done > left {
			done += left
			t := done / length
			cut := point{a.x + t*(pt.x-a.x), a.y + t*(pt.y-a.y)}
			if index%2 == 0 {
				pieces = append(pieces, append(piece, cut))
			}
			piece = []point{cut}
			index++
			left = lengths[index%len(lengths)]
		}
		left -= length - done
		piece = append(piece, pt)
	}
	if index%2 == 0 && len(piece) > 1 {
		pieces = append(pieces, piece)
	}
	return pieces
}

// flatten turns a contour of quadratic curves into a polygon. Two control points in a row have a
// point of the curve half way between them.
func flatten(contour []outlinePoint) []point {
	n := len(contour)
	if n == 0 {
		return nil
	}
	half := func(a, b outlinePoint) outlinePoint {
		return outlinePoint{x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, on: true}
	}
	start := contour[0]
	if !start.on {
		start = half(contour[n-1], contour[0])
	}
	pts := []point{{start.x, start.y}}
	curve := func(from, control, to outlinePoint) {
		const steps = 6 // enough for letters of 60 pixels
		for i := 1; i <= steps; i++ {
			t := float64(i) / steps
			u := 1 - t
			pts = append(pts, point{
				u*u*from.x + 2*u*t*control.x + t*t*to.x,
				u*u*from.y + 2*u*t*control.y + t*t*to.y,
			})
		}
	}
	at, held, holding := start, outlinePoint{}, false
	for i := range n {
		p := contour[(i+1)%n]
		if !contour[0].on {
			p = contour[i]
		}
		switch {
		case p.on && holding:
			curve(at, held, p)
			at, holding = p, false
		case p.on:
			pts = append(pts, point{p.x, p.y})
			at = p
		case holding:
			mid := half(held, p)
			curve(at, held, mid)
			at, held = mid, p
		default:
			held, holding = p, true
		}
	}
	if holding {
		curve(at, held, start)
	}
	return pts
}
