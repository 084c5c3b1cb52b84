package plot

import "math"

// marker is the shape of a point.
type marker uint8

const (
	disc marker = iota
	square
	triangle
	diamond
	cross
	ring
	plus
)

// drawMarkers draws one marker at each place. All markers look about equally large.
func drawMarkers(c canvas, places []point, l look, radius float64) {
	if len(places) == 0 {
		return
	}
	solid := paint{fill: l.color}
	thin := paint{stroke: l.color, width: math.Max(1, radius*0.45)}
	shape := func(corners ...point) [][]point {
		parts := make([][]point, len(places))
		for i, at := range places {
			part := make([]point, len(corners))
			for j, k := range corners {
				part[j] = point{at.x + k.x*radius, at.y + k.y*radius}
			}
			parts[i] = part
		}
		return parts
	}
	switch l.marker {
	case disc:
		c.circles(places, radius, solid)
	case ring:
		c.circles(places, radius, thin)
	case square:
		c.path(shape(point{-.85, -.85}, point{.85, -.85}, point{.85, .85}, point{-.85, .85}), true, solid)
	case triangle:
		c.path(shape(point{0, -1.15}, point{1.05, .8}, point{-1.05, .8}), true, solid)
	case diamond:
		c.path(shape(point{0, -1.25}, point{1.25, 0}, point{0, 1.25}, point{-1.25, 0}), true, solid)
	case cross:
		c.path(append(shape(point{-.8, -.8}, point{.8, .8}), shape(point{.8, -.8}, point{-.8, .8})...), false, thin)
	case plus:
		c.path(append(shape(point{-1, 0}, point{1, 0}), shape(point{0, -1}, point{0, 1})...), false, thin)
	}
}

// thin drops every place that falls into the same cell of the grid as an earlier one: such points
// hide each other. The order of the others stays.
func thin(places []point, cell float64) []point {
	type key struct{ x, y int32 }
	seen := make(map[key]struct{}, min(len(places), 1<<16))
	kept := places[:0:0]
	for _, p := range places {
		k := key{int32(math.Floor(p.x / cell)), int32(math.Floor(p.y / cell))}
		if _, dup := seen[k]; !dup {
			seen[k] = struct{}{}
			kept = append(kept, p)
		}
	}
	return kept
}
