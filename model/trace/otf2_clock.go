package trace

import (
	"math"
	"math/bits"
)

// otf2Clock turns ticks of a clock into picoseconds.
type otf2Clock struct {
	resolution uint64 // ticks per second
	base       uint64 // ticks at time 0
	factor     int64  // picoseconds per tick, if that is a whole number; else 0
	most       int64  // ticks that factor can take
}

// second is a second in picoseconds.
const second = 1_000_000_000_000

func newOTF2Clock(resolution, base uint64) otf2Clock {
	c := otf2Clock{resolution: resolution, base: base}
	if second%resolution == 0 {
		c.factor = int64(second / resolution)
		c.most = math.MaxInt64 / c.factor
	}
	return c
}

// time returns the picoseconds of a time stamp, rounded down; false if they do not fit.
func (c *otf2Clock) time(ticks uint64) (int64, bool) { return c.span(int64(ticks - c.base)) }

// span returns the picoseconds of a number of ticks, rounded down; false if they do not fit.
func (c *otf2Clock) span(ticks int64) (int64, bool) {
	if c.factor > 0 {
		return ticks * c.factor, ticks <= c.most && ticks >= -c.most
	}
	magnitude := uint64(ticks)
	if ticks < 0 {
		magnitude = -magnitude
	}
	hi, lo := bits.Mul64(magnitude, second)
	if hi >= c.resolution {
		return 0, false
	}
	ps, rest := bits.Div64(hi, lo, c.resolution)
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

// ticks is the inverse of span for times that span returns; false if there are no such ticks.
func (c *otf2Clock) ticks(ps int64) (int64, bool) {
	if c.factor > 0 {
		return ps / c.factor, ps%c.factor == 0
	}
	magnitude := uint64(ps)
	if ps < 0 {
		magnitude = -magnitude
	}
	hi, lo := bits.Mul64(magnitude, c.resolution)
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
	back, ok := c.span(ticks)
	return ticks, ok && back == ps
}

// corrected applies offsets of a clock to a time, as OTF2 does it: linear interpolation, also before the first
// and after the last of them. With less than two offsets times stay as they are.
func corrected(offsets []ClockOffset, time int64) int64 {
	if len(offsets) < 2 {
		return time
	}
	k := 0
	for k+2 < len(offsets) && time > offsets[k+1].Time {
		k++
	}
	a, b := offsets[k], offsets[k+1]
	slope := float64(b.Offset-a.Offset) / float64(b.Time-a.Time)
	return time + a.Offset + int64(math.RoundToEven(slope*float64(time-a.Time)))
}
