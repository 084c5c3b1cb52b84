// Package state describes what the ranks of a program do at one moment: the call that each thread is inside, and what the rank did
// until then, as far as it decides whether that call can end.
//
// Ranks are those of MPI_COMM_WORLD everywhere, communicators, windows and files have the numbers of Run. Times are ns.
package state

import "slackline/model/timeline"

// Run is a program at one moment.
type Run struct {
	Ranks   []Rank // by rank
	Comms   []timeline.Comm
	Windows []timeline.Object
	Files   []timeline.Object
}

// Unreadable are the ranks of which it is unknown what they do.
func (r *Run) Unreadable() []int {
	var list []int
	for i := range r.Ranks {
		if r.Ranks[i].Status == Unreadable {
			list = append(list, i)
		}
	}
	return list
}

// Status is what is known of a process.
type Status uint8

// The states of a process. Of one on another host only what its files say is known: it is taken for running.
const (
	Running    Status = iota
	Stopped           // by a signal
	Gone              // without MPI_Finalize: killed, or crashed
	Exited            // the same, but it ended by itself
	Finished          // MPI_Finalize is done
	Missing           // it left no file: MPI_Init is not done
	Unreadable        // what it does is unknown: what was recorded of it is damaged, or not there
)

// Rank is a process.
type Rank struct {
	Status  Status
	Host    string
	PID     int
	Threads []Thread // those that have called MPI, by number
	// Partial says that not everything it did is known: recording was off for a while, or what was recorded is gone.
	Partial bool

	Sent, Received map[Channel]int64 // messages to and from others, until now
	Open           []Request         // in the order in which they began
	Collectives    map[uint32]*Series
	OnWindow       map[uint32]*Series // collective calls on a window
	OnFile         map[uint32]*Series
	Locks          []Lock // it has asked for them and not given them back
	Epochs         map[Epoch]*Exposure
}

// Channel is what messages are matched by: the other rank, communicator and tag.
type Channel struct {
	Peer, Tag int32
	Comm      uint32
}

// Series is a series of collective calls: how many, and the last ones.
type Series struct {
	Count int64
	Last  []Collective // the newest at the end, at most Remembered
}

// Remembered is the number of collective calls that a series knows.
const Remembered = 16

// At returns the call with a number, counted from 0; nil if it has not been made or is forgotten.
func (s *Series) At(number int64) *Collective {
	if s == nil {
		return nil
	}
	if i := int64(len(s.Last)) - (s.Count - number); i >= 0 && i < int64(len(s.Last)) {
		return &s.Last[i]
	}
	return nil
}

// Add takes a further call into the series.
func (s *Series) Add(c Collective) {
	s.Count++
	if len(s.Last) == Remembered {
		s.Last = append(s.Last[:0], s.Last[1:]...)
	}
	s.Last = append(s.Last, c)
}

// Collective is a collective call of one rank.
type Collective struct {
	Name           string // MPI_Bcast
	Root           int32  // or NoRoot
	Sent, Received int64
}

// Peers that are not ranks.
const (
	Nobody  = -1 // MPI_PROC_NULL, or not known
	Anybody = -2 // MPI_ANY_SOURCE
	NoRoot  = -3
	AnyTag  = -1
	All     = -4 // targets of a lock
)

// Lock is a lock of a window at a target, or at all.
type Lock struct {
	Window uint32
	Target int32
	Shared bool
}

// Epoch is what general active target synchronization is counted by: the window and the other rank.
type Epoch struct {
	Window uint32
	Peer   int32
}

// Exposure is how often a rank began and ended epochs with another one.
type Exposure struct{ Posted, Waited, Started, Completed int64 }

// Request is a request that is not complete, as far as the program knows.
type Request struct {
	ID        uint64
	Kind      Kind // Send, Receive, Together, OnWindow or OnFile
	Name      string
	Peer, Tag int32
	Comm      uint32
	Bytes     int64
	Parts     bool  // it is partitioned, and not matched by its channel
	Number    int64 // of a collective in its series
}

// Kind is what a call or a request waits for.
type Kind uint8

// The kinds of calls.
const (
	Other    Kind = iota // what it waits for is not known
	Local                // it waits for nobody
	Send                 // a blocking send
	Receive              // a blocking receive
	Exchange             // both
	Probe                // a message
	WaitAll              // all its requests
	WaitAny              // one of them
	Together             // all members of a communicator
	OnWindow             // all ranks of a window, collectively
	OnFile               // all ranks of a file
	Locking              // a lock, or the end of what needs it
	Start                // MPI_Win_start, MPI_Win_complete: the targets have not posted
	Wait                 // MPI_Win_wait: the origins have not completed
	Finalize
	Abort
)

// Call is a call that a thread is inside.
type Call struct {
	Kind      Kind
	Name      string // MPI_Recv
	Peer, Tag int32  // of a message, or the target of a lock
	Comm      uint32
	HasComm   bool
	Bytes     int64

	Source, SourceTag int32    // of an exchange
	Requests          []uint64 // that a wait names
	Total             int64    // requests, some of which Requests may lack
	Number            int64    // of a collective in its series
	Object            uint32   // window or file
	Shared            bool     // lock
	Group             []int32  // of an epoch
}

// Thread is a thread that has called MPI.
type Thread struct {
	Number  int
	Call    *Call // nil: it is outside of MPI
	Polls   bool  // Call finds nothing again and again
	Asleep  bool  // outside of MPI it waits in a call of the system
	Since   int64 // how long it has been there
	Moved   bool  // between two looks it made a call
	Calls   int64
	Samples int64
	Longest int64 // time between two calls before
	Path    uint32
}
