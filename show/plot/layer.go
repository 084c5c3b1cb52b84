package plot

import (
	"fmt"
	"math"
)

// Layer is one set of data in a chart: *Line, *Steps, *Points, *Band, *Bars, *Boxes, *Rule or
// *Zone. Layers are drawn in order, later ones on top.
//
// Every layer has a Name for the legend (without one it is not listed) and a Slot: which color,
// dash and marker it takes, counted from 1. Layers with slot 0 take the next unused slot; layers
// that belong together (a band and its line) are given the same slot; Neutral is for references.
type Layer interface {
	base() (name string, slot int)
	// ranges checks the data and adds them to the ranges of the axes.
	ranges(x, y *interval) error
	draw(c canvas, p *panel, l look)
	key(c canvas, r rect, th *theme, l look)
}

// checked adds values to a range, or reports which of them cannot be drawn.
func checked(layer, what string, values []float64, to *interval) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: %s value %d is %g; only finite values can be drawn", layer, what, i, v)
		}
		to.add(v)
	}
	return nil
}

// paired checks that a list has as many values as there are places for them.
func paired(layer, what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %d %s values, but %d are needed", layer, got, what, want)
	}
	return nil
}

// describe names a layer in errors.
func describe(kind, name string) string {
	if name == "" {
		return kind
	}
	return fmt.Sprintf("%s %q", kind, name)
}
