package trace

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"slackline/model/clock"
	"slackline/model/timeline"
	"slackline/model/trace/control"
	"slackline/model/trace/otf2"
	"slackline/model/unit"
)

// Clock defines how the clocks of a trace are brought together.
type Clock string

// The ways to bring clocks together.
const (
	// ClockAuto corrects clocks by the offsets of the trace or else by its round trips. If it was by
	// round trips, the controlled logical clock removes what is still impossible; offsets are taken as
	// their makers meant them.
	ClockAuto Clock = "auto"
	// ClockOffsets corrects clocks by what was measured, and leaves the rest as it is.
	ClockOffsets Clock = "offsets"
	// ClockControl corrects clocks by what was measured and removes what is still impossible.
	ClockControl Clock = "clc"
	// ClockNone leaves all times as they were recorded.
	ClockNone Clock = "none"
)

// ClockReport describes what was done to the clocks of a trace.
type ClockReport struct {
	Source   string           // "offsets", "round trips", or "none": times are as they were recorded
	Unknown  []int            // ranks whose clocks were not compared with that of the reference
	Control  bool             // the controlled logical clock was at work
	Before   clock.Violations // before the controlled logical clock; zero if it was not checked
	After    clock.Violations // what it could not remove
	Moved    int64            // starts and ends of messages and collectives that it moved
	Furthest unit.Duration    // how far at most
}

// second is a second in picoseconds.
const second = 1_000_000_000_000

// Where corrections come from.
const (
	fromOffsets = "offsets"
	fromPings   = "round trips"
	fromNothing = "none"
)

// clocks are the corrections of all locations.
type clocks struct {
	ClockReport
	ticks     *otf2.Clock        // offsets are interpolated in ticks of this clock
	offsets   []*clock.Offsets   // by location, from offsets; nil: none
	pings     []clock.Correction // by rank, from round trips
	locations []Location
}

// findClocks finds out how the clocks of the trace are to be corrected.
func (c *conversion) findClocks() *clocks {
	k := &clocks{ClockReport: ClockReport{Source: fromNothing}, locations: c.Locations}
	if c.Clock == ClockNone {
		return k
	}
	for i := range c.Locations {
		if len(c.Locations[i].Offsets) >= 2 {
			k.Source = fromOffsets
		} else if len(c.Locations[i].RoundTrips) > 0 && k.Source == fromNothing {
			k.Source = fromPings
		}
	}
	switch k.Source {
	case fromOffsets:
		c.useOffsets(k)
	case fromPings:
		c.usePings(k)
	}
	return k
}

// useOffsets takes the offsets that stand in the trace. They were measured and are interpolated in
// ticks of the recorder's clock, so that times come out as OTF2's own reader gives them.
func (c *conversion) useOffsets(k *clocks) {
	if c.Resolution > 0 && c.Resolution <= second && c.Resolution != second {
		ticks := otf2.NewClock(uint64(c.Resolution), 0)
		k.ticks = &ticks
	}
	k.offsets = make([]*clock.Offsets, len(c.Locations))
	for i := range c.Locations {
		var err error
		if k.offsets[i], err = k.offsetsOf(&c.Locations[i]); err != nil {
			c.lost[i] = fmt.Sprintf("its clock is not corrected: %v", err)
		}
	}
}

// offsetsOf returns the offsets of a location; nil if it has not enough of them.
func (k *clocks) offsetsOf(l *Location) (*clock.Offsets, error) {
	if len(l.Offsets) < 2 {
		return nil, nil
	}
	knots := make([]clock.Knot, len(l.Offsets))
	for i, o := range l.Offsets {
		knots[i] = clock.Knot{Time: unit.Duration(k.toTicks(o.Time)), Offset: unit.Duration(k.toTicks(o.Offset))}
	}
	return clock.NewOffsets(knots)
}

// toTicks turns picoseconds into ticks, down to whole ones.
func (k *clocks) toTicks(ps int64) int64 {
	if k.ticks == nil {
		return ps
	}
	ticks, exact := k.ticks.Ticks(ps)
	if !exact && k.ticks.Factor > 0 && ps < 0 {
		ticks-- // it rounds towards 0
	}
	return ticks
}

// usePings makes corrections out of round trips. All threads of a rank have its clock; the reference is the
// lowest rank that left something.
func (c *conversion) usePings(k *clocks) {
	var comparisons []clock.Comparison
	reference := -1
	for i := range c.Locations {
		l := &c.Locations[i]
		if !l.Missing && (reference < 0 || l.Rank < reference) {
			reference = l.Rank
		}
		for _, trip := range l.RoundTrips {
			if trip.Partner < 0 || trip.Partner >= len(c.Locations) {
				continue
			}
			comparisons = append(comparisons, clock.Comparison{
				Asker: l.Rank, Answerer: c.Locations[trip.Partner].Rank,
				Pings: []clock.Ping{{Sent: unit.Duration(trip.Sent), Answered: unit.Duration(trip.Answered), Back: unit.Duration(trip.Back)}},
			})
		}
	}
	if reference < 0 {
		k.Source = fromNothing
		return
	}
	k.pings = clock.Synchronize(c.Trace.Ranks, reference, comparisons)
	for i := range c.Locations {
		if l := &c.Locations[i]; l.Thread == 0 && !l.Missing && !k.pings[l.Rank].Known {
			k.Unknown = append(k.Unknown, l.Rank)
		}
	}
	slices.Sort(k.Unknown)
}

// of returns what corrects the times of a location, in order.
func (k *clocks) of(i int) locationClock {
	switch rank := k.locations[i].Rank; {
	case k.offsets != nil:
		return k.by(k.offsets[i])
	case k.pings != nil:
		return k.by(k.pings[rank].Offsets)
	}
	return locationClock{}
}

// by corrects times by offsets, which may be nil.
func (k *clocks) by(o *clock.Offsets) locationClock {
	switch {
	case o == nil:
		return locationClock{}
	case k.ticks != nil:
		return locationClock{kind: inTicks, cursor: o.Cursor(), ticks: *k.ticks}
	}
	return locationClock{kind: inTime, cursor: o.Cursor()}
}

// error bounds the error of the corrected times of a location between two of its own times; -1: it is unknown.
func (k *clocks) error(i int, from, to unit.Duration) unit.Duration {
	if k.pings == nil || !k.pings[k.locations[i].Rank].Known {
		return -1
	}
	return k.pings[k.locations[i].Rank].Error(from, to)
}

// locationClock corrects the times of a location.
type locationClock struct {
	kind   correctionKind
	cursor clock.Cursor
	ticks  otf2.Clock
}

type correctionKind uint8

const (
	asRecorded correctionKind = iota
	inTime
	inTicks
)

// correct returns the corrected time; false: it does not fit.
func (l *locationClock) correct(t int64) (unit.Duration, bool) {
	switch l.kind {
	case asRecorded:
		return unit.Duration(t), true
	case inTime:
		corrected := l.cursor.Correct(unit.Duration(t))
		return corrected, near(t, int64(corrected))
	}
	ticks, _ := l.ticks.Ticks(t)
	at, _ := l.ticks.Span(ticks)
	corrected := int64(l.cursor.Correct(unit.Duration(ticks)))
	ps, fits := l.ticks.Span(corrected)
	ps += t - at // what is finer than a tick
	return unit.Duration(ps), fits && near(ticks, corrected) && near(t, ps)
}

// errFarClock is the mistake of a time that does not fit after its correction.
var errFarClock = errors.New("the corrected time is too large: offsets or round trips of its clock are damaged")

// near reports whether a correction is of at most a quarter of all times: it is not, if a sum of times did not fit.
func near(t, corrected int64) bool { return math.Abs(float64(t)-float64(corrected)) <= math.MaxInt64/2 }

// control lets the controlled logical clock remove what is still impossible in a timeline, and reports what was done to the clocks, if that
// is asked for.
func (c *conversion) control(ctx context.Context, tl *timeline.Timeline) error {
	k := c.clocks
	if c.wantsControl(tl) {
		o, err := control.Apply(ctx, tl, c.Latency)
		if err != nil {
			return err
		}
		k.Control, k.Before, k.After, k.Moved, k.Furthest = o.Control, o.Before, o.After, o.Moved, o.Furthest
	}
	if c.Clocks != nil {
		*c.Clocks = k.ClockReport
	}
	return nil
}

// wantsControl reports whether the controlled logical clock is to look at a timeline; it notes which clocks were not compared.
func (c *conversion) wantsControl(tl *timeline.Timeline) bool {
	k := c.clocks
	if len(k.Unknown) > 0 {
		tl.Problems.Notes = append(tl.Problems.Notes, fmt.Sprintf("the clocks of %d ranks were never compared, the first is rank %d",
			len(k.Unknown), k.Unknown[0]))
	}
	wanted := c.Clock == ClockControl || (c.Clock == ClockAuto || c.Clock == "") && k.Source == fromPings
	return wanted && len(tl.Locations) > 0
}
