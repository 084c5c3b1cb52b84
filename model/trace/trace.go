// Package trace holds recorded runs as they lie on disk: our own format, OTF2, liballprof's text,
// a readable text for hand-written cases; other viewers' formats are written only.
//
// A Trace is what all formats have in common: definitions, and per location a stream of events on
// that location's own clock. Any trace can be written in any format. ToTimeline brings the clocks
// together, turns samples into calls and finds partners; FromTimeline goes the other way. Waits
// are not analyzed here.
package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"slackline/model/missing"
	"slackline/model/timeline"
	"slackline/model/trace/damage"
)

// Trace is a recorded run.
type Trace struct {
	Definitions
	Name     string   // file or directory it was read from
	Format   string   // name of its format
	Warnings []string // what was lost or repaired while reading: file, place, what
	Notes    []string // what is odd about the run, although nothing was lost

	// Open returns the events of location i, an index into Locations. Several locations may be
	// read at the same time. A damaged file gives its valid part, then an error that is damage.Err.
	Open func(i int) (EventReader, error)
	// Close releases files; nil if there is nothing to release.
	Close func() error

	startsAtZero bool            // as that of the format
	disk         *damage.Watched // where it was read from; nil: it was not read

	// timeline returns the timeline of a format whose events are not streams in order; nil: it follows from the events.
	// Its Notes are what was found wrong while it was made.
	timeline func() *timeline.Timeline
	// noted is what was found odd while that timeline was made, and all that a writer warns of that does not take the timeline.
	noted []string
	// recorded returns the same run with events in order, of which a part of the ranks can be read; nil: those of the trace are.
	recorded func() *Trace
	// attach adds what ran on accelerators; nil: nothing did, or the timeline has it.
	attach func(c *conversion, tl *timeline.Timeline) error
	// hosts returns the trace without the streams of accelerators, which are threads in it, and the timeline that has them; nil: there
	// are none, or the trace is without them.
	hosts func() (*Trace, *timeline.Timeline)
}

// missing is what the trace says is missing of its run, or of the recorded run that was simulated.
func (t *Trace) missing() (p missing.Parts, err error) {
	if t.Missing == "" {
		return p, nil
	}
	if err = json.Unmarshal([]byte(t.Missing), &p); err == nil {
		err = p.Check()
	}
	if err != nil {
		err = fmt.Errorf("what is missing of the run cannot be read: %w", err)
	}
	return p, err
}

// setMissing lets the trace of a timeline say what is missing beside what its locations and events say.
func (t *Trace) setMissing(tl *timeline.Timeline) {
	var p missing.Parts
	if tl.Source != nil {
		p = *tl.Source
		p.Simulated = p != missing.Parts{}
	}
	p.Files, p.Unmatched = p.Files+tl.Problems.LostFiles, p.Unmatched+tl.Problems.Unmatched()
	p.Profiled, p.Guessed = cmp.Or(tl.Chosen.Profiled, p.Profiled), max(tl.Chosen.Guessed, p.Guessed)
	t.Missing = MissingWord(p)
}

// MissingWord is what Properties say is missing.
func MissingWord(p missing.Parts) string {
	if p == (missing.Parts{}) {
		return ""
	}
	word, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers and words
	}
	return string(word)
}

// withDoubts returns the trace as other formats can have it: what may be wrong of a location counts as cut off.
func (t *Trace) withDoubts() *Trace {
	if !slices.ContainsFunc(t.Locations, func(l Location) bool { return l.Doubtful }) {
		return t
	}
	doubted := *t
	doubted.Locations = slices.Clone(t.Locations)
	for i := range doubted.Locations {
		l := &doubted.Locations[i]
		l.Truncated = l.Truncated || l.Doubtful
	}
	return &doubted
}

// EventReader reads the events of one location in order.
type EventReader interface {
	// Read fills events from the front and returns how many; io.EOF with 0 at the end. Slices in
	// events are valid until the next call.
	Read(events []Event) (int, error)
	io.Closer
}

// Definitions are what events refer to.
type Definitions struct {
	Ranks     int
	Locations []Location // by rank, then thread
	Regions   []timeline.Region
	Comms     []timeline.Comm
	Windows   []timeline.Object
	Files     []timeline.Object
	Metrics   []timeline.Metric // that locations count
	Stacks    []Stack           // call-tree nodes that samples and calls refer to; Stacks[0] is the empty stack
	Carts     []Cart
	Properties
}

// Properties say where a trace comes from.
type Properties struct {
	Command      []string // program and arguments, without the launcher
	Launch       []string // the whole command
	MPI          string   // library and version
	Tool         string   // what recorded it
	Machine      string
	Created      int64  // nanoseconds since 1970; 0: not known
	SamplePeriod int64  // ps; 0: not sampled
	CallPaths    string // off, caller, full
	Resolution   int64  // ticks per second of the original clock; 0: not known
	Yield        string // forced: the recorder made the MPI library give up the CPU while it waits; empty: it did what it does
	Recording    string // what chose when recording was on: window FROM..TO, or ring; empty: the program, or it was on all the time
	Missing      string // missing.Parts as JSON: what is missing of the run beside what its locations say; empty: nothing
}

// Location is one thread of a rank.
type Location struct {
	ID           uint64 // in the file; OTF2 numbers threads t*2^32 + rank
	Rank, Thread int
	Name         string
	Host         string
	Events       uint64
	Truncated    bool   // the process ended without closing its trace
	Doubtful     bool   // the ids and times of its events may be wrong
	Missing      bool   // the process left nothing, or its file cannot be read
	Unreadable   string // why its file cannot be read: that is an error, unless a part of the trace is enough
	Offsets      []ClockOffset
	RoundTrips   []RoundTrip
}

// compare orders locations: by rank, then thread.
func (l *Location) compare(other *Location) int {
	return cmp.Or(cmp.Compare(l.Rank, other.Rank), cmp.Compare(l.Thread, other.Thread))
}

// checkOrder refuses a location that is not after the one before it, or not of a rank of the trace.
func (d *Definitions) checkOrder(i int) error {
	l := &d.Locations[i]
	if l.Rank < d.Ranks && (i == 0 || d.Locations[i-1].compare(l) < 0) {
		return nil
	}
	return fmt.Errorf("thread %d of rank %d is not in order or not in range", l.Thread, l.Rank)
}

// ClockOffset states that at Time, on the location's own clock, Offset is to be added; ps.
type ClockOffset struct {
	Time, Offset int64
	Deviation    float64
}

// RoundTrip is one exchange with another location: sent here at Sent, answered there at Answered
// on that location's clock, back here at Back; ps.
type RoundTrip struct {
	Partner              int // index into Locations
	Sent, Answered, Back int64
}

// Stack is a node of a call tree: a region called from another node.
type Stack struct {
	Parent uint32
	Region uint32
}

// Cart is a process grid. Its neighbors follow from it.
type Cart struct {
	Comm     uint32
	Dims     []int
	Periodic []bool
	Coords   [][]int // by rank in the communicator
}

// Kind is the kind of an event.
type Kind uint8

// The kinds of events with the fields that they use beside Time. What a record that is not an Enter or
// a Leave says belongs to the innermost open call. Peer and Root are ranks in the communicator (in
// the remote group of an intercommunicator), Comm and Region indices into the definitions.
const (
	Enter            Kind = iota // Region; Stack: the stack it was called from, 0 if not known
	Leave                        // Region
	Send                         // Peer, Comm, Tag, Size
	Isend                        // Peer, Comm, Tag, Size, Request
	IsendDone                    // Request
	IrecvPost                    // Request
	Recv                         // Peer, Comm, Tag, Size
	IrecvDone                    // Peer, Comm, Tag, Size, Request
	RequestTest                  // Request
	RequestCancelled             // Request
	CollectiveBegin              // -
	CollectiveEnd                // Op, Comm, Root, Sent, Received, Counts
	CollectiveIssue              // Request
	CollectiveDone               // Op, Comm, Root, Sent, Received, Counts, Request
	Fork                         // Size: threads asked for
	Join                         // -
	TeamBegin                    // -
	TeamEnd                      // -
	Sample                       // Stack
	Polls                        // Size: the open call stands for so many, of which only the last may have found something; 0: see Continues
	RecordingOff                 // - ; a second one: recording was on meanwhile, and nothing happened at the location
	RecordingOn                  // -
	CommCreate                   // Comm
	CommDestroy                  // Comm
	ProgramBegin                 // -
	ProgramEnd                   // Size: exit status
	Other                        // something that this package does not use
	NoCPU                        // Size: so long until then, ps, the thread could have run but had no CPU
	ThreadBegin                  // a thread begins that is recorded here; without one there is a thread from the start of the run
	ThreadEnd                    // it ends; another one may follow

	// While recording is off nothing is recorded but what is needed to number the rest. These come before the RecordingOn
	// that they belong to, after the RecordingOff, as do an IrecvPost of a receive that was posted meanwhile and an IrecvDone,
	// IsendDone or CollectiveDone of what was begun before. What they stand for happened after the RecordingOff and until their time; what
	// other threads of the rank recorded between these on the same channel or communicator cannot be numbered.
	SkippedSends       // Peer, Comm, Tag, Size: so many sends to a peer; below 0: so many that were skipped were cancelled
	SkippedReceives    // Peer, Comm, Tag, Size: so many receives, posted before those that follow
	SkippedCollectives // Comm, Size: so many collectives that the location issued

	// One-sided communication; Object is a window, Peer a rank of it or AllRanks, Counts are ranks of it.
	WinCollective // Op, Object: the window was created, freed or fenced (OpBarrier)
	WinPost       // Object, Counts: origins
	WinStart      // Object, Counts: targets
	WinComplete   // Object
	WinWait       // Object: or an MPI_Win_test that found the epoch ended
	WinLock       // Object, Peer, Flag: shared
	WinUnlock     // Object, Peer
	WinFlush      // Object, Peer, Flag: complete here only. Also the completion of a request
	WinSync       // Object
	Put           // Object, Peer, Size
	Get           // Object, Peer, Size
	Atomic        // Object, Peer, Sent, Received

	// Collective I/O; Object is a file.
	FileOpen  // Object
	FileClose // Object
	FileBegin // Object, Request: number of the operation, Size
	FileEnd   // Object, Request

	// Partitioned messages: as Isend and IrecvDone; Object is the number of the channel among those with the same peer, tag and communicator.
	PartitionedSend // Peer, Comm, Tag, Size, Request, Object
	PartitionedDone // Peer, Comm, Tag, Size, Request, Object

	Count // Object: a metric, Request: its value, which only grows; it comes before the Enter or Leave of the same time
)

// AllRanks is the Peer of a lock or flush of all ranks of a window.
const AllRanks = timeline.AllTargets

// NoRoot is the Root of a collective that has none.
const NoRoot = -1

// Event is something that happened at a location.
type Event struct {
	Time           int64 // ps on the clock of the location, not decreasing
	Kind           Kind
	Op             timeline.Op
	Flag           bool
	Region         uint32
	Stack          uint32
	Peer, Root     int32
	Comm           uint32
	Object         uint32
	Tag            int32
	Size           int64
	Sent, Received int64
	Request        uint64
	Counts         []int64 // bytes by peer: sent, then received where the operation has both; of windows: ranks
}

// setNeighbors gives a rank of a communicator its neighbors: those it receives from and those it sends to.
func setNeighbors(c *timeline.Comm, rank int, in, out []int32) error {
	size := len(c.Members)
	if rank >= size {
		return fmt.Errorf("neighbors of rank %d of communicator %q, which has %d ranks", rank, c.Name, size)
	}
	for _, list := range [][]int32{in, out} {
		for _, n := range list {
			if n < timeline.NoNeighbor || int(n) >= size {
				return fmt.Errorf("neighbor %d of rank %d of communicator %q, which has %d ranks", n, rank, c.Name, size)
			}
		}
	}
	if c.In == nil {
		c.In, c.Out = make([][]int32, size), make([][]int32, size)
	}
	c.In[rank], c.Out[rank] = in, out
	return nil
}

// withNeighbors returns a communicator with the neighbors of its process grid, if it has one and no neighbors of its own.
func (d *Definitions) withNeighbors(comm int) timeline.Comm {
	c := d.Comms[comm]
	if c.In != nil {
		return c
	}
	for i := range d.Carts {
		if g := &d.Carts[i]; int(g.Comm) == comm && g.cells() == len(c.Members) {
			c.In = make([][]int32, len(c.Members))
			for rank := range c.In {
				c.In[rank] = g.neighbors(rank)
			}
			c.Out = c.In
			break
		}
	}
	return c
}

// cells is the number of ranks that a grid has room for, -1 if they cannot be counted.
func (g *Cart) cells() int {
	n := 1
	for _, size := range g.Dims {
		if size <= 0 || n > maxTextRank/size {
			return -1
		}
		n *= size
	}
	return n
}

// neighbors are those of a rank in MPI's order: for each dimension the one in negative, then the one in positive direction. The last
// dimension varies fastest.
func (g *Cart) neighbors(rank int) []int32 {
	list := make([]int32, 0, 2*len(g.Dims))
	stride := g.cells()
	for i, size := range g.Dims {
		stride /= size
		at := rank / stride % size
		for _, step := range []int{-1, 1} {
			to, periodic := at+step, i < len(g.Periodic) && g.Periodic[i]
			if periodic {
				to = (to + size) % size
			}
			if to < 0 || to >= size {
				list = append(list, timeline.NoNeighbor)
			} else {
				list = append(list, int32(rank+(to-at)*stride))
			}
		}
	}
	return list
}
