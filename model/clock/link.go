package clock

import (
	"cmp"
	"math"
	"slices"

	"slackline/model/unit"
)

// link is what is known between two clocks: the readings that say most, in order of time.
type link struct {
	low, high int
	readings  []reading
	error     unit.Duration // of the worst of them
	same      bool          // both are one clock

	// seen from one of the two clocks:
	offsets *Offsets
	times   []unit.Duration // of the readings, on this clock
}

// newLink chooses the readings that say most. The most exact one comes first, and then, in order of
// exactness, each that is far enough from the others to say something of the speed of the clocks: two
// readings closer to each other than their errors divided by FreeDrift say less than nothing, for
// the line through them could be steeper than clocks are. One between two others that is less exact
// than the line between them is left out. Of the many pings of one moment this keeps the one with
// the shortest round trip.
func newLink(low, high int, readings []reading) *link {
	if len(readings) == 0 {
		return nil
	}
	l := &link{low: low, high: high}
	l.same = !slices.ContainsFunc(readings, func(r reading) bool { return !r.exact })
	if l.same {
		return l
	}
	sorted := slices.Clone(readings)
	slices.SortStableFunc(sorted, func(a, b reading) int {
		return cmp.Or(cmp.Compare(a.error, b.error), cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low))
	})
	for _, r := range sorted {
		if i, ok := l.informs(r); ok {
			l.readings = slices.Insert(l.readings, i, r)
			l.error = max(l.error, r.error)
		}
	}
	return l
}

// informs reports whether a reading says something that those chosen so far do not, and where it belongs.
func (l *link) informs(r reading) (int, bool) {
	i, found := slices.BinarySearchFunc(l.readings, r, func(a, b reading) int { return cmp.Compare(a.high, b.high) })
	if found {
		return i, false
	}
	far := func(a, b reading) bool {
		distance := min(b.high-a.high, b.low-a.low)
		return distance > 0 && float64(a.error+b.error) <= FreeDrift*float64(distance)
	}
	if i > 0 && !far(l.readings[i-1], r) || i < len(l.readings) && !far(r, l.readings[i]) {
		return i, false
	}
	if i > 0 && i < len(l.readings) {
		a, b := l.readings[i-1], l.readings[i]
		if float64(r.error) > between(a.high, b.high, a.error, b.error, r.high) {
			return i, false
		}
	}
	return i, true
}

// between bounds the error on the line between two readings.
func between(ta, tb, ea, eb, t unit.Duration) float64 {
	share := float64(t-ta) / float64(tb-ta)
	return float64(ea)*(1-share) + float64(eb)*share + Wander*float64(min(t-ta, tb-t))
}

// beyond is how far from the readings the outermost knots are: further than any time.
const beyond = unit.Duration(1e17)

// from returns the link as seen from one of its clocks: how it is corrected to the other one.
func (l *link) from(clock int) *link {
	out := *l
	if l.same {
		return &out
	}
	var knots []Knot
	for _, r := range l.readings {
		mine, others := r.high, r.low
		if clock == l.low {
			mine, others = r.low, r.high
		}
		knots = append(knots, Knot{mine, others - mine})
		out.times = append(out.times, mine)
	}
	first, last := knots[0], knots[len(knots)-1]
	slope := 0.0 // of all readings together: that of the outermost two may be much less exact
	if len(knots) > 1 {
		slope = float64(last.Offset-first.Offset) / float64(last.Time-first.Time)
	}
	far := unit.Duration(math.RoundToEven(slope * float64(beyond)))
	knots = slices.Insert(knots, 0, Knot{first.Time - beyond, first.Offset - far})
	knots = append(knots, Knot{last.Time + beyond, last.Offset + far})
	offsets, err := NewOffsets(knots)
	if err != nil {
		panic("clock: " + err.Error()) // readings are in order of both times
	}
	out.offsets = offsets
	return &out
}

// errorAt bounds the error of a corrected time: between readings as the line through them, beyond them by
// what is not known of the speed.
func (l *link) errorAt(t unit.Duration) float64 {
	if l.same {
		return 0
	}
	n := len(l.times)
	i, _ := slices.BinarySearch(l.times, t)
	if i > 0 && i < n {
		return between(l.times[i-1], l.times[i], l.readings[i-1].error, l.readings[i].error, t) + rounding
	}
	end, distance := l.readings[0], l.times[0]-t
	if i == n {
		end, distance = l.readings[n-1], t-l.times[n-1]
	}
	drift := FreeDrift
	if n > 1 {
		drift = 2*Wander + float64(l.readings[0].error+l.readings[n-1].error)/float64(l.times[n-1]-l.times[0])
	}
	return float64(end.error) + drift*float64(max(distance, 0)) + rounding
}

// rounding is what the rounding of offsets to whole picoseconds can add to an error.
const rounding = 3

// worst bounds the error between two times. It is largest at the ends, at readings, or half way
// between two of them.
func (l *link) worst(from, to unit.Duration) float64 {
	worst := max(l.errorAt(from), l.errorAt(to))
	for i, t := range l.times {
		if t > from && t < to {
			worst = max(worst, l.errorAt(t))
		}
		if i == 0 {
			continue
		}
		if middle := l.times[i-1] + (t-l.times[i-1])/2; middle > from && middle < to {
			worst = max(worst, l.errorAt(middle))
		}
	}
	return worst
}
