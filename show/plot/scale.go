package plot

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Scale is how an axis spaces its values.
type Scale uint8

// The scales.
const (
	Linear Scale = iota
	Log10
	Log2 // for process counts and message sizes
)

// Quantity is what the values of an axis mean; it decides units and ticks.
type Quantity uint8

// The quantities.
const (
	Number  Quantity = iota
	Time             // picoseconds, as in unit.Duration
	Bytes            // bytes, as in unit.Size
	Percent          // 1 is one per cent
)

// Axis describes one axis of a chart. The zero value is a linear axis of plain numbers that fits
// the data.
type Axis struct {
	Label    string // without unit, which is added
	Scale    Scale
	Quantity Quantity
	Min, Max float64 // if Min < Max, the range; otherwise the data decide
	FromZero bool    // a range that the data decide includes 0 (linear axes only)
	Whole    bool    // only whole numbers make sense (ranks, counts)
}

// labelled refuses axes without a label.
func labelled(axes ...Axis) error {
	for _, a := range axes {
		if strings.TrimSpace(a.Label) == "" {
			return errors.New("an axis has no label")
		}
	}
	return nil
}

// interval is a range of values; empty as long as lo > hi.
type interval struct{ lo, hi float64 }

func emptyInterval() interval { return interval{math.Inf(1), math.Inf(-1)} }

func (i *interval) add(v float64) {
	i.lo, i.hi = math.Min(i.lo, v), math.Max(i.hi, v)
}

func (i interval) empty() bool { return i.lo > i.hi }

// span is an axis with its range and its place on the canvas.
type span struct {
	Axis
	interval
	from, to float64 // where lo and hi lie on the canvas
}

// resolve decides the range of an axis. air is the share of the range that stays free on each side
// of the data.
func (a Axis) resolve(data interval, air float64) (span, error) {
	s := span{Axis: a, interval: data}
	fixed := a.Min < a.Max
	if fixed {
		s.interval = interval{a.Min, a.Max}
	}
	switch {
	case s.empty():
		return s, fmt.Errorf("axis %q has no values", a.Label)
	case math.IsNaN(a.Min+a.Max) || !s.finite():
		return s, s.notFinite()
	case a.Scale != Linear && s.lo <= 0:
		return s, fmt.Errorf("axis %q is logarithmic, but %g has no logarithm; use a linear axis or leave such values out", a.Label, s.lo)
	case fixed:
	case a.Scale == Linear:
		s.interval = padLinear(data, air, a.FromZero)
	default:
		factor := math.Pow(data.hi/data.lo, air)
		s.interval = interval{data.lo / factor, data.hi * factor}
	}
	if !s.finite() || a.Scale != Linear && math.IsInf(s.hi/s.lo, 0) { // with the air around them
		s.interval = data
		return s, s.notFinite()
	}
	s.interval = widen(s.interval, a.Scale)
	return s, nil
}

// finite reports whether the range has a width.
func (i interval) finite() bool { return !math.IsNaN(i.hi-i.lo) && !math.IsInf(i.hi-i.lo, 0) }

func (s span) notFinite() error {
	return fmt.Errorf("axis %q: the range %g to %g is not finite, or too wide to be drawn", s.Label, s.lo, s.hi)
}

// padLinear leaves some air around the data, and starts at 0 where little is lost by it. Without
// air the axis ends where the data end.
func padLinear(data interval, air float64, fromZero bool) interval {
	lo, hi := data.lo, data.hi
	if fromZero {
		lo, hi = math.Min(lo, 0), math.Max(hi, 0)
	}
	if air == 0 {
		return interval{lo, hi}
	}
	if lo > 0 && lo <= hi/2 {
		lo = 0
	}
	distance := (hi - lo) * air
	if lo != 0 {
		lo -= distance
		if data.lo >= 0 && lo < 0 {
			lo = 0
		}
	}
	if hi != 0 {
		hi += distance
	}
	return interval{lo, hi}
}

// widen makes a range wide enough for distinct ticks when all values are (nearly) the same.
func widen(i interval, scale Scale) interval {
	if scale != Linear {
		if i.hi/i.lo < 1.02 {
			middle := math.Sqrt(i.lo) * math.Sqrt(i.hi)
			return interval{middle / 2, middle * 2}
		}
		return i
	}
	middle := i.lo/2 + i.hi/2
	if least := math.Abs(middle) * 1e-9; i.hi-i.lo <= least {
		half := cmp.Or(math.Abs(middle)*0.05, 1)
		if middle > 0 && half > middle {
			half = middle
		}
		return interval{middle - half, middle + half}
	}
	return i
}

// farAway is the largest distance from the canvas that values outside a fixed range are drawn at.
const farAway = 20_000

// at returns the place of a value on the canvas.
func (s span) at(v float64) float64 {
	t := 0.0
	switch {
	case s.Scale == Linear:
		t = (v - s.lo) / (s.hi - s.lo)
	case v <= 0:
		t = math.Inf(-1)
	default:
		t = math.Log(v/s.lo) / math.Log(s.hi/s.lo)
	}
	return math.Min(math.Max(s.from+t*(s.to-s.from), -farAway), farAway)
}
