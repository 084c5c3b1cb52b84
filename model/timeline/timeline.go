// Package timeline holds what happened in a run, recorded or simulated, in one form: which calls
// every thread of every rank made from when to when, and what joined them: messages,
// collectives, teams of threads.
//
// It is data without opinion: it reads no files and computes no metric. Readers of traces and the
// simulator make timelines with a Builder, which finds the partner of every message and the
// members of every collective; analyses read them. Detail is the closer view of a simulated run.
package timeline

import (
	"cmp"
	"slices"

	"slackline/internal/spill"
	"slackline/model/missing"
	"slackline/model/unit"
)

// Timeline is one run. Everything is in a fixed order that depends on the run alone, so that
// analyses that go through it in order are reproducible.
type Timeline struct {
	Ranks       int
	Locations   []Location // by rank, then thread: the first one of a rank is its master
	Regions     []Region
	Paths       []Path // a tree; Paths[0] is the root, "in no call"; parents come before children
	Comms       []Comm
	Windows     []Object     // of one-sided communication
	Files       []Object     // of collective I/O
	Metrics     []Metric     // that threads counted
	Messages    []Message    // matched ones, by receiving location, then by order of posting there
	Collectives []Collective // those that all members took part in, by series, then by order
	Members     []Member     // of the collectives, in their order, then by rank in the communicator; see MembersOf
	Counts      []int64      // sizes by peer of collectives whose sizes differ, see CountsOf
	Epochs      Epochs       // epochs of one-sided communication
	Teams       []Team       // by master location, then by time
	Devices     *Devices     // what ran on accelerators; nil: nothing
	Grid        *Grid        // process grid, if the run says one
	Start, End  unit.Duration
	Before      unit.Duration // how long the run had lasted at Start: 0, unless it was cut or only some of its ranks were read
	LeftOut     LeftOut       // of the run: the start and the end of MPI
	Simulated   bool
	Source      *missing.Parts // of a simulated run: what is missing of the recorded one; nil: nothing, or there is none
	Chosen      missing.Parts  // what flags chose of the run, or of its recording; Missing has all that is missing
	ForcedYield bool           // the recorder made MPI give up the CPU while it waits
	Problems    Problems
	Part        *Part        // which part of the run it is; nil: all of it
	Space       *spill.Space // that its long lists are in; nil: they are on the heap
}

// Location is one thread of a rank.
type Location struct {
	Rank, Thread int
	Name         string
	Host         string
	Calls        Calls
	First, Last  unit.Duration // its first and last event
	ClockError   unit.Duration // its times are right within this much relative to rank 0; -1: not known
	Truncated    bool          // its end is missing: open calls were closed at Last
	Polls        []Poll        // by call
	Alone        []int32       // calls of collectives without instances that need no other rank: those of communicators with one member
	Cut          bool          // recording was off for a time; these times are calls of the region NotRecorded
	Unrecorded   unit.Duration // how long it was off
	Sampled      []SampledCall // by call
	Alive        []Span        // when its threads lived, one after the other; nil: one did for the whole run
	NoCPU        []Lack        // when it could have run but had no CPU, in order, none across the end of a call
	Lacked       unit.Duration // the sum of NoCPU; also of locations of other processes
	Counts       []Increment   // in order of time
}

// Calls are the calls of a location in the order of their beginnings, so that a call comes before
// those inside it, as columns. The calls inside call i are i+1 .. Skip[i]-1. Call a precedes call b
// (it was left before b was entered) if Skip[a] <= b.
type Calls struct {
	Enter, Leave []unit.Duration
	Path         []PathID
	Skip         []int32
}

// Polled reports whether a call stands for several like it.
func (l *Location) Polled(call int32) bool {
	at, found := l.poll(call)
	return found && l.Polls[at].Count > 0
}

// continues reports whether a call is the rest of one that was open when recording was switched off.
func (l *Location) continues(call int32) bool {
	at, found := l.poll(call)
	return found && l.Polls[at].Count == 0
}

func (l *Location) poll(call int32) (at int, found bool) {
	return slices.BinarySearchFunc(l.Polls, call, func(p Poll, call int32) int { return cmp.Compare(p.Call, call) })
}

// Poll states that a call stands for several like it, of which only the last may have found something: a run of MPI_Test. One that stands
// for none is the rest of a call that was open when recording was switched off.
type Poll struct {
	Call  int32
	Count int64
}

// PathID is an index into Timeline.Paths, RegionID one into Timeline.Regions.
type (
	PathID   uint32
	RegionID uint32
)

// Path is a call path: a region called from a path.
type Path struct {
	Parent PathID
	Region RegionID // of the root: meaningless
	Depth  int32    // 0 for the root
}

// Region is a function or another named piece of a program.
type Region struct {
	Name     string
	Paradigm Paradigm
	Role     Role
	File     string
	Line     int
}

// Paradigm says to whom a region belongs.
type Paradigm uint8

// The paradigms.
const (
	User   Paradigm = iota // the program's own functions
	MPI                    // calls of the MPI library
	OpenMP                 // parallel regions, barriers and what the runtime does
	Noise                  // detours that a simulation injected
	Tool                   // the recorder's own time
	NoCPU                  // times without a CPU; in timelines only
)

// Role describes what a region does, as far as analyses need it.
type Role uint8

// The roles.
const (
	Function Role = iota
	PointToPoint
	CollectiveCall
	FileIO
	OneSided
	Parallel        // OpenMP
	Barrier         // OpenMP
	ImplicitBarrier // OpenMP
	Workshare       // OpenMP: loop, single, sections, critical
	Unrecorded      // of the tool: recording was off
)

// Comm is a communicator.
type Comm struct {
	Name    string
	Members []int32 // world ranks by rank in the communicator; UnknownRank: a process that is not in the run
	Remote  []int32 // of the other group, if it is an intercommunicator

	// Neighbors by rank in the communicator, if it has a topology: those it receives from and those it sends to, in MPI's
	// order; NoNeighbor for MPI_PROC_NULL. A rank whose neighbors are not known has none.
	In, Out [][]int32
}

// NoNeighbor is MPI_PROC_NULL among the neighbors of a rank.
const NoNeighbor = -1

// Size is the number of processes, of both groups of an intercommunicator.
func (c *Comm) Size() int { return len(c.Members) + len(c.Remote) }

// Rank is the world rank of a process, counted through both groups.
func (c *Comm) Rank(i int) int32 {
	if i < len(c.Members) {
		return c.Members[i]
	}
	return c.Remote[i-len(c.Members)]
}

// Object is a window or a file, which the processes of a communicator share.
type Object struct {
	Name string
	Comm int32
}

// UnknownRank is the world rank of a process that the run does not have, such as one that MPI_Comm_spawn started.
const UnknownRank = -1

// Message is a message with both its ends. The calls are indices into the Calls of the location. A thread may hand a request to another one
// of its rank: then the ends of the sender, or of the receiver, are at two locations.
type Message struct {
	From, To       int32 // locations: that began the send, that completed the receive
	Send, SendDone int32 // calls of the sender: that began it, that completed it (the same if blocking); -1: never
	Post, Recv     int32 // calls of the receiver: that posted the receive, that completed it
	SendDoneSeq    int32 // number of the record of completion among the records of the sender, -1: none
	RecvSeq        int32 // number of the record of reception among the records of the receiver
	Comm           int32
	Tag            int32
	Channel        int32 // of a partitioned message, from 1; 0: it is none
	DoneBy         int16 // thread that completed the send: its location relative to From
	PostedBy       int16 // thread that posted the receive: its location relative to To
	Size           int64
	Sent, Received unit.Duration // times of the records of sending and of reception
}

// Completer is the location that completed the send, Poster the one that posted the receive.
func (m *Message) Completer() int32 { return m.From + int32(m.DoneBy) }
func (m *Message) Poster() int32    { return m.To + int32(m.PostedBy) }

// SendBlocks reports whether one call began and completed the send, RecvBlocks whether one posted and completed the receive.
func (m *Message) SendBlocks() bool { return m.Send == m.SendDone && m.DoneBy == 0 }
func (m *Message) RecvBlocks() bool { return m.Post == m.Recv && m.PostedBy == 0 }

// Op is a collective operation, numbered as in OTF2.
type Op uint8

// The operations.
const (
	OpBarrier Op = iota
	OpBcast
	OpGather
	OpGatherv
	OpScatter
	OpScatterv
	OpAllgather
	OpAllgatherv
	OpAlltoall
	OpAlltoallv
	OpAlltoallw
	OpAllreduce
	OpReduce
	OpReduceScatter
	OpScan
	OpExscan
	OpReduceScatterBlock
	OpCreateHandle
	OpDestroyHandle
	OpAllocate
	OpDeallocate
	OpCreateHandleAllocate
	OpDestroyHandleDeallocate
	OpNeighborAllgather // from here on not in OTF2
	OpNeighborAllgatherv
	OpNeighborAlltoall
	OpNeighborAlltoallv
	OpNeighborAlltoallw
)

// IsNeighbor reports whether an operation is one among neighbors.
func (op Op) IsNeighbor() bool { return op >= OpNeighborAllgather }

// Scope is what the instances of a collective are counted by.
type Scope uint8

// The scopes.
const (
	ByComm       Scope = iota // a communicator
	ByWindow                  // a window: create (OpCreateHandle, OpAllocate ...), fence (OpBarrier), free
	ByFile                    // a file: open (OpCreateHandle), collective operations (OpBarrier), close (OpDestroyHandle)
	ByConnection              // an intercommunicator that both groups made, each in a call of its own (OpCreateHandle)
)

// Roots of collectives of an intercommunicator, as their members give them.
const (
	RootSelf  = -2 // the member is the root (MPI_ROOT)
	RootGroup = -3 // another member of its group is (MPI_PROC_NULL)
)

// Collective is one instance of a collective operation.
type Collective struct {
	Op     Op
	Scope  Scope
	Comm   int32
	Object int32 // window or file, if the scope is one
	Root   int32 // which of the members is the root; -1: none
	First  int   // of its members in Timeline.Members
}

// MembersOf returns the members of a collective: by rank in the communicator, those of the remote group last.
func (t *Timeline) MembersOf(c *Collective) []Member {
	return t.Members[c.First:][:t.Comms[c.Comm].Size()]
}

// RootWord is how a member of a collective, by its index, names the root.
func (t *Timeline) RootWord(c *Collective, member int) int32 {
	comm := &t.Comms[c.Comm]
	root, local := int(c.Root), len(comm.Members)
	switch {
	case root < 0 || len(comm.Remote) == 0:
		return c.Root
	case root == member:
		return RootSelf
	case (root < local) == (member < local):
		return RootGroup
	case root < local:
		return c.Root
	}
	return c.Root - int32(local)
}

// SeriesOf is the number of the series of instances that a collective belongs to: communicators come first, then windows,
// files, connections.
func (t *Timeline) SeriesOf(c *Collective) int {
	if c.Scope == ByWindow || c.Scope == ByFile {
		return t.series(c.Scope, c.Object)
	}
	return t.series(c.Scope, c.Comm)
}

// series numbers the objects of all scopes; -1: there is none.
func (t *Timeline) series(s Scope, object int32) int {
	sizes := [...]int{ByComm: len(t.Comms), ByWindow: len(t.Windows), ByFile: len(t.Files), ByConnection: len(t.Comms)}
	if object < 0 || int(object) >= sizes[s] {
		return -1
	}
	first := 0
	for _, n := range sizes[:s] {
		first += n
	}
	return first + int(object)
}

// Series is the number of series of collectives.
func (t *Timeline) Series() int { return 2*len(t.Comms) + len(t.Windows) + len(t.Files) }

// scopeOf returns what a series is counted by: the object and its communicator.
func (t *Timeline) scopeOf(series int) (s Scope, object, comm int32) {
	switch n := len(t.Comms); {
	case series < n:
		return ByComm, int32(series), int32(series)
	case series < n+len(t.Windows):
		object = int32(series - n)
		return ByWindow, object, t.Windows[object].Comm
	case series < n+len(t.Windows)+len(t.Files):
		object = int32(series - n - len(t.Windows))
		return ByFile, object, t.Files[object].Comm
	default:
		object = int32(series - n - len(t.Windows) - len(t.Files))
		return ByConnection, object, object
	}
}

// Member is what one member of a communicator did in a collective.
type Member struct {
	Location        int32 // that completed it
	Issue, Complete int32 // calls; the same if it was blocking
	Seq             int32 // number of the record of completion among the records of the location
	Sent, Received  int64 // bytes
	Counts          int32 // index into Timeline.Counts of its bytes by peer, -1: none; see CountsOf
	IssuedBy        int16 // thread that issued it: its location relative to Location
}

// Issuer is the location that issued the part of a member.
func (m *Member) Issuer() int32 { return m.Location + int32(m.IssuedBy) }

// Blocks reports whether one call issued and completed it.
func (m *Member) Blocks() bool { return m.Issue == m.Complete && m.IssuedBy == 0 }

// Place is a point between the calls of a location: before call Next, inside call Open (-1: none).
type Place struct{ Next, Open int32 }

// Team is one parallel region: the fork of a master, its threads, the join.
type Team struct {
	Master     int32 // location
	Fork, Join unit.Duration
	ForkPlace  Place
	JoinPlace  Place
	Base       PathID // path of the master at the fork: the calls of the workers are below it
	Members    []TeamMember
}

// TeamMember is one thread of a team.
type TeamMember struct {
	Location   int32
	Begin, End unit.Duration
	BeginPlace Place
	EndPlace   Place
}

// Grid is a process grid.
type Grid struct {
	Dims     []int
	Periodic []bool
	Coords   [][]int // by world rank; nil: not in the grid
}

// Problems is what does not fit together in a run. Lists hold the first ones only.
type Problems struct {
	UnmatchedSends, UnmatchedReceives int64
	Sends, Receives                   []Unmatched
	IncompleteCollectives             int64 // instances that not every member has
	Collectives                       []string
	LeftOut                           int           // messages and collectives without partner of which the trace has no event any more
	PendingRequests                   int64         // never completed
	CutMessages                       int64         // one end was recorded, the other one fell into a time when recording was off
	CutCollectives                    int64         // the same of collectives: not all members recorded them
	Violations                        int64         // messages that were received before they were sent
	EarlyCollectives                  int64         // collectives that a member left before it could
	WorstViolation                    unit.Duration // of both: by how much, at most
	Unbalanced                        int64         // leaves without enter, enters without leave
	MissingRanks                      []int
	LostThreads                       []int    // ranks of which threads left nothing, others did
	LostFiles                         int      // files that gave nothing, or not all; whose ranks, is not known
	Notes                             []string // everything else, as sentences
}

// Unmatched is how many messages and collectives lack a partner.
func (p *Problems) Unmatched() int {
	return int(p.UnmatchedSends+p.UnmatchedReceives+p.IncompleteCollectives) + p.LeftOut
}

// Unmatched is one end of a message that has no other end.
type Unmatched struct {
	Rank      int
	Call      string // name of the MPI call
	Peer      int    // world rank
	Tag, Comm int32
	Time      unit.Duration
}
