// Package clock brings clocks together that show different times and run at different speeds.
//
// What two clocks have to do with each other is known from pings: one side notes when it asked and
// when it had the answer, the other one when it answered. Synchronize makes corrections of them
// along a tree, with a bound of the error that is left; Offsets are corrections that were measured
// by others; Envelope says what pings prove and no more; Control removes what is still impossible
// afterwards: messages that arrive before they are sent.
//
// The package takes times and gives times. It knows no ranks, no files and no MPI, and it never reads
// a clock.
package clock

import "slackline/model/unit"

// Ping is one exchange between two clocks: Sent and Back on the clock of the one who asks, Answered on
// that of the one who answers.
type Ping struct {
	Sent, Answered, Back unit.Duration
}

// RoundTrip is how long the exchange took for the one who asked.
func (p Ping) RoundTrip() unit.Duration { return p.Back - p.Sent }

// Middle is the time half way between asking and having the answer.
func (p Ping) Middle() unit.Duration { return p.Sent + (p.Back-p.Sent)/2 }

// offset is what the clock of the one who asks shows more than the other one, if both ways take the
// same time. It is wrong by at most half the round trip, however different they are.
func (p Ping) offset() unit.Duration { return p.Middle() - p.Answered }

// valid reports whether the times can be computed with and did not run backwards.
func (p Ping) valid() bool {
	return p.Back >= p.Sent && min(p.Sent, p.Answered) > -latest && max(p.Back, p.Answered) < latest
}

// latest is a time whose differences from others of its kind can be computed: 53 days.
const latest = unit.Duration(1) << 62

// Best returns the ping with the shortest round trip, the first one of several; false if there is none.
// Nothing else can be believed as much: what makes a ping slow seldom makes both ways equally slow.
func Best(pings []Ping) (Ping, bool) {
	best, found := Ping{}, false
	for _, p := range pings {
		if p.valid() && (!found || p.RoundTrip() < best.RoundTrip()) {
			best, found = p, true
		}
	}
	return best, found
}

// Speeds of clocks, relative to the true one.
const (
	// FreeDrift is how much clocks drift apart at most if nothing is done about it, and so the bound of
	// what is known some time after a single comparison.
	FreeDrift = 300e-6
	// Wander is how much the speed of a clock differs at most from its mean speed between two
	// comparisons.
	Wander = 1e-6
)
