package timeline

import "slackline/model/unit"

// WindowAction is the kind of a record of one-sided communication.
type WindowAction uint8

// The kinds of records.
const (
	WinPost WindowAction = iota
	WinStart
	WinComplete
	WinWait
	WinLock
	WinUnlock
	WinFlush
	WinAccess // put, get, atomic
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

// WinPost begins an exposure epoch to origins, ranks of the window; it keeps the list.
func (l *LocationBuilder) WinPost(t unit.Duration, window int32, origins []int32) {
	l.addWindowRecord(t, WindowRecord{Kind: WinPost, Window: window, Group: origins})
}

// WinStart begins an access epoch to targets, ranks of the window; it keeps the list.
func (l *LocationBuilder) WinStart(t unit.Duration, window int32, targets []int32) {
	l.addWindowRecord(t, WindowRecord{Kind: WinStart, Window: window, Group: targets})
}

// WinComplete ends the access epoch of a window.
func (l *LocationBuilder) WinComplete(t unit.Duration, window int32) {
	l.addWindowRecord(t, WindowRecord{Kind: WinComplete, Window: window})
}

// WinWait ends the exposure epoch of a window.
func (l *LocationBuilder) WinWait(t unit.Duration, window int32) {
	l.addWindowRecord(t, WindowRecord{Kind: WinWait, Window: window})
}

// WinLock locks a target, or AllTargets.
func (l *LocationBuilder) WinLock(t unit.Duration, window, target int32, exclusive bool) {
	l.addWindowRecord(t, WindowRecord{Kind: WinLock, Window: window, Target: target, Flag: exclusive})
}

// WinUnlock unlocks a target, or AllTargets.
func (l *LocationBuilder) WinUnlock(t unit.Duration, window, target int32) {
	l.addWindowRecord(t, WindowRecord{Kind: WinUnlock, Window: window, Target: target})
}

// WinFlush completes the operations to a target or AllTargets, if local here only: they stay pending there.
func (l *LocationBuilder) WinFlush(t unit.Duration, window, target int32, local bool) {
	l.addWindowRecord(t, WindowRecord{Kind: WinFlush, Window: window, Target: target, Flag: local})
}

// WinAccess is an operation that sends and receives so many bytes; without any it counts nowhere.
func (l *LocationBuilder) WinAccess(t unit.Duration, window, target int32, sent, received int64) {
	l.addWindowRecord(t, WindowRecord{Kind: WinAccess, Window: window, Target: target, Sent: max(sent, 0), Received: max(received, 0)})
}

func (l *LocationBuilder) addWindowRecord(t unit.Duration, r WindowRecord) {
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
