package timeline

import "slackline/model/unit"

// WindowAction is the kind of a record of one-sided communication.
type WindowAction uint8

// The kinds of records.
const (
	WinPost     WindowAction = iota // begins an exposure epoch to origins
	WinStart                        // begins an access epoch to targets
	WinComplete                     // ends the access epoch
	WinWait                         // ends the exposure epoch
	WinLock
	WinUnlock
	WinFlush  // completes the operations to a target; if it is local here only, they stay pending there
	WinAccess // put, get, atomic; without bytes it counts nowhere
)

// WindowRecord is what a call of a location does to a window, other than to create, fence or free it.
type WindowRecord struct {
	Kind             WindowAction
	Flag             bool // exclusive lock; local flush
	Location, Window int32
	Target           int32 // rank of the window, or AllTargets
	EpochCall
	Group          []int32 // of post and start: ranks of the window
	Sent, Received int64   // bytes of an access, as its origin sees them
}

// Moves reports whether an access moves data. Others count nowhere.
func (r *WindowRecord) Moves() bool { return r.Sent > 0 || r.Received > 0 }

// AllTargets is the target of a lock or flush of all ranks of a window.
const AllTargets = -1

// OneSided adds a record of one-sided communication, whose group is kept. A negative number of bytes is none.
func (l *LocationBuilder) OneSided(t unit.Duration, r WindowRecord) {
	r.Sent, r.Received = max(r.Sent, 0), max(r.Received, 0)
	_, seq, call, ok := l.record(t)
	switch {
	case !ok:
	case call < 0:
		l.outside++
	default:
		r.EpochCall = EpochCall{call, seq}
		l.epochs = append(l.epochs, r)
	}
}
