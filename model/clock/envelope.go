package clock

import (
	"math"

	"slackline/model/unit"
)

// Envelope is what pings prove of the offset of two clocks: at the time of an answer, on the clock of the
// one who answered, the clock of the one who asked showed something between the time of asking and
// the time of having the answer. No assumption about the ways there and back is needed.
type Envelope struct {
	at, least, most []unit.Duration // at this time the asker's clock showed between so much and so much more
}

// NewEnvelope returns the envelope of pings between the same two clocks.
func NewEnvelope(pings []Ping) *Envelope {
	e := &Envelope{}
	for _, p := range pings {
		if p.valid() {
			e.at = append(e.at, p.Answered)
			e.least = append(e.least, p.Sent-p.Answered)
			e.most = append(e.most, p.Back-p.Answered)
		}
	}
	return e
}

// Drifting returns the smallest and the largest possible offset at time t if the clocks drift apart by at
// most the given fraction; false if there are no pings or no offset is possible, which means that they
// drift more or that one of them was set.
func (e *Envelope) Drifting(t unit.Duration, drift float64) (least, most unit.Duration, ok bool) {
	least, most = math.MinInt64, math.MaxInt64
	for i, at := range e.at {
		d := t - at
		if d < 0 {
			d = -d
		}
		spread := unit.Duration(math.Ceil(drift * float64(d)))
		least, most = max(least, e.least[i]-spread), min(most, e.most[i]+spread)
	}
	return least, most, len(e.at) > 0 && least <= most
}

// Straight returns all lines that agree with the pings; false if there is none: the clocks do not drift
// evenly. Then split the pings by time.
func (e *Envelope) Straight() (*Lines, bool) {
	if len(e.at) == 0 {
		return nil, false
	}
	s := &Lines{origin: e.at[0], offset: e.least[0]}
	width := float64(e.most[0] - e.least[0])
	s.corners = []corner{{0, -1}, {width, -1}, {width, 1}, {0, 1}} // slopes beyond 1 are no clocks
	for i := range e.at {
		x := float64(e.at[i] - s.origin)
		s.clip(func(c corner) float64 { return c.offset + c.slope*x - float64(e.least[i]-s.offset) })
		s.clip(func(c corner) float64 { return float64(e.most[i]-s.offset) - c.offset - c.slope*x })
	}
	return s, len(s.corners) > 0
}

// Lines is a set of lines, offset + slope * (t - origin): a convex polygon of pairs.
type Lines struct {
	origin, offset unit.Duration
	corners        []corner
}

type corner struct{ offset, slope float64 }

// clip keeps the part of the polygon where inside is not negative (Sutherland and Hodgman).
func (s *Lines) clip(inside func(corner) float64) {
	var kept []corner
	for i, a := range s.corners {
		b := s.corners[(i+1)%len(s.corners)]
		da, db := inside(a), inside(b)
		if da >= 0 {
			kept = append(kept, a)
		}
		if (da >= 0) != (db >= 0) {
			share := da / (da - db)
			kept = append(kept, corner{a.offset + share*(b.offset-a.offset), a.slope + share*(b.slope-a.slope)})
		}
	}
	s.corners = kept
}

// At returns the smallest and the largest offset at time t of all lines, rounded away from each other.
func (s *Lines) At(t unit.Duration) (least, most unit.Duration) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range s.corners {
		v := c.offset + c.slope*float64(t-s.origin)
		low, high = min(low, v), max(high, v)
	}
	return s.offset + unit.Duration(math.Floor(low)), s.offset + unit.Duration(math.Ceil(high))
}

// Slopes returns the smallest and the largest slope of all lines.
func (s *Lines) Slopes() (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, c := range s.corners {
		least, most = min(least, c.slope), max(most, c.slope)
	}
	return least, most
}
