package otf2

import (
	"math"
	"math/bits"
)

// Clock turns ticks of a clock into picoseconds.
type Clock struct {
	Resolution uint64 // ticks per second
	Base       uint64 // ticks at time 0
	Factor     int64  // picoseconds per tick, if that is a whole number; else 0
	most       int64  // ticks that factor can take
}

// second is a second in picoseconds.
const second = 1_000_000_000_000

func NewClock(resolution, base uint64) Clock {
	c := Clock{Resolution: resolution, Base: base}
	if second%resolution == 0 {
		c.Factor = int64(second / resolution)
		c.most = math.MaxInt64 / c.Factor
	}
	return c
}

// Time returns the picoseconds of a time stamp, rounded down; false if they do not fit.
func (c *Clock) Time(ticks uint64) (int64, bool) { return c.Span(int64(ticks - c.Base)) }

// Span returns the picoseconds of a number of ticks, rounded down; false if they do not fit.
func (c *Clock) Span(ticks int64) (int64, bool) {
	if c.Factor > 0 {
		return ticks * c.Factor, ticks <= c.most && ticks >= -c.most
	}
	magnitude := uint64(ticks)
	if ticks < 0 {
		magnitude = -magnitude
	}
	hi, lo := bits.Mul64(magnitude, second)
	if hi >= c.Resolution {
		return 0, false
	}
	ps, rest := bits.Div64(hi, lo, c.Resolution)
	if ps >= math.MaxInt64 {
		return 0, false
	}
	if ticks >= 0 {
		return int64(ps), true
	}
	if rest > 0 {
		ps++
	}
	return -int64(ps), true
}

// Ticks is the inverse of span for times that span returns; false if there are no such ticks.
func (c *Clock) Ticks(ps int64) (int64, bool) {
	if c.Factor > 0 {
		return ps / c.Factor, ps%c.Factor == 0
	}
	magnitude := uint64(ps)
	if ps < 0 {
		magnitude = -magnitude
	}
	hi, lo := bits.Mul64(magnitude, c.Resolution)
	if hi >= second {
		return 0, false
	}
	n, rest := bits.Div64(hi, lo, second)
	if n >= math.MaxInt64 {
		return 0, false
	}
	ticks := int64(n) // rounded up, the least number that gets as far as ps
	if ps < 0 {
		ticks = -ticks
	} else if rest > 0 {
		ticks++
	}
	back, ok := c.Span(ticks)
	return ticks, ok && back == ps
}
