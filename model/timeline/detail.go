package timeline

import "slackline/model/unit"

// Detail is a simulated run, operation by operation: what the CPUs did and which messages joined
// them. Everything in it is in order: tracks by rank, activities of a track by start, messages by
// the start of their send (then by sender, then by order there).
type Detail struct {
	Tracks   []Track
	Messages []Transfer
	Paths    [][]string // call paths that Activity.Path names; the first one is the unknown path
	Calls    []string   // names of MPI calls that Activity.Call names; the first one is empty
	End      unit.Duration
}

// Track is what one rank did.
type Track struct {
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

// Activity is something that a rank does.
type Activity struct {
	Start, End unit.Duration
	Kind       Kind
	CPU        uint8
	Path, Call uint32 // see Detail
	Message    int32  // index into Detail.Messages; -1: none
}

// Transfer is a simulated message with all its moments.
type Transfer struct {
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
