package clock

import (
	"fmt"
	"math"

	"slackline/model/unit"
)

// Knot states that at Time on the clock that is to be corrected, Offset is to be added.
type Knot struct {
	Time, Offset unit.Duration
}

// Offsets is a correction: offsets at some times, in between straight lines, which the first and the
// last one go on beyond their ends.
type Offsets struct {
	knots  []Knot
	slopes []float64 // of the intervals between the knots
}

// Knots returns what the correction goes through, in order of time. They must not be changed.
func (o *Offsets) Knots() []Knot { return o.knots }

// NewOffsets returns the correction through at least two knots in order of time.
func NewOffsets(knots []Knot) (*Offsets, error) {
	if len(knots) < 2 {
		return nil, fmt.Errorf("%d offsets; a correction needs at least 2", len(knots))
	}
	o := &Offsets{knots: knots, slopes: make([]float64, len(knots)-1)}
	for i := range o.slopes {
		a, b := knots[i], knots[i+1]
		for _, v := range []unit.Duration{a.Time, a.Offset, b.Time, b.Offset} {
			if v > largest || v < -largest {
				return nil, fmt.Errorf("offset %d or %d has the time %d, which is out of range", i, i+1, v)
			}
		}
		if a.Time >= b.Time {
			return nil, fmt.Errorf("offset %d is for time %d and offset %d for time %d; times must increase", i, a.Time, i+1, b.Time)
		}
		o.slopes[i] = float64(b.Offset-a.Offset) / float64(b.Time-a.Time)
	}
	return o, nil
}

// largest is the largest time and offset of a knot: differences of them fit.
const largest = math.MaxInt64 / 2

// Cursor returns what corrects the times of one location in order. The cursor of no offsets changes
// nothing.
func (o *Offsets) Cursor() Cursor { return Cursor{offsets: o} }

// At corrects a single time.
func (o *Offsets) At(t unit.Duration) unit.Duration {
	c := o.Cursor()
	return c.Correct(t)
}

// Cursor corrects times in order. The interval that it takes an offset from never goes back, so that
// times that come too late are corrected as OTF2's own reader does it.
type Cursor struct {
	offsets  *Offsets
	interval int
}

// Correct returns the corrected time: t + o + rint(s * (t - t0)) with the offset o at the beginning t0 of
// the interval and its slope s, all of it in double precision, halves rounded to even.
func (c *Cursor) Correct(t unit.Duration) unit.Duration {
	if c.offsets == nil {
		return t
	}
	o := c.offsets
	for c.interval < len(o.slopes)-1 && t > o.knots[c.interval+1].Time {
		c.interval++
	}
	k := o.knots[c.interval]
	return t + k.Offset + unit.Duration(math.RoundToEven(o.slopes[c.interval]*float64(t-k.Time)))
}

// before returns the time that is corrected to y, as the inverse of straight lines.
func (o *Offsets) before(y unit.Duration) unit.Duration {
	i := 0
	for i < len(o.slopes)-1 && y > o.knots[i+1].Time+o.knots[i+1].Offset {
		i++
	}
	k := o.knots[i]
	return k.Time + unit.Duration(math.RoundToEven(float64(y-k.Time-k.Offset)/(1+o.slopes[i])))
}
