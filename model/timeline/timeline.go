// Package timeline holds what happened in a run, recorded or simulated, in one form: what every
// rank did from when to when, and which messages joined them.
//
// It is data without opinion: it reads no files and computes no metric.
package timeline

import "slackline/model/unit"

// Timeline is one run. Everything in it is in order: locations by rank, activities of a location
// by start, messages by the start of their send (then by sender, then by order there).
type Timeline struct {
	Locations []Location
	Messages  []Message
	Paths     [][]string // call paths that Activity.Path names; the first one is the unknown path
	Calls     []string   // names of MPI calls that Activity.Call names; the first one is empty
	End       unit.Duration
}

// Location is one rank (later: one thread of it).
type Location struct {
	Rank       int
	Activities []Activity
	Finish     unit.Duration
}

// Kind is what a CPU does during an activity.
type Kind uint8

// The kinds of activities.
const (
	Compute Kind = iota
	Send         // overhead of a send
	Receive      // overhead of an arriving message
	Blocked      // a send of a large message that waits for its receive
)

// Activity is something that a location does.
type Activity struct {
	Start, End unit.Duration
	Kind       Kind
	CPU        uint8
	Path, Call uint32 // see Timeline
	Message    int32  // index into Timeline.Messages; -1: none
}

// Message is a message with both its ends.
type Message struct {
	From, To           int32
	Size               int64
	Tag                uint32
	SendStart, SendEnd unit.Duration // CPU of the sender
	Arrival            unit.Duration // first bytes at the receiver
	Posted             unit.Duration // when the receive was posted
	RecvStart, RecvEnd unit.Duration // CPU of the receiver
	Completed          unit.Duration // when the receive finished
	SendFinish         unit.Duration // when the send finished; later than SendEnd if it rendezvoused
}
