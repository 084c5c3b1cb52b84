// Package schedule describes what the ranks of a parallel program do: operations (compute, send,
// receive, take part in a collective) and which of them wait for which.
//
// A schedule has two faces. A Program yields the operations of a rank block by block, on demand,
// so that a million ranks need not be in memory at once; patterns, skeletons and extrapolated
// traces are programs. A Graph holds all operations in memory and is a program with one block per
// rank; files are read into graphs. The package knows nothing of machines and time: when an
// operation happens is for the simulator to say.
package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Kind describes what an operation does. The numbers are the order in which operations that become
// ready at the same moment start (rule 4 of the loggops model).
type Kind uint8

// The kinds of operations.
const (
	Send       Kind = iota // Size bytes to rank Peer
	Recv                   // from rank Peer, or AnySource
	Calc                   // Size picoseconds of CPU work
	Collective             // symbolic: Block.Calls[Size]; expanded by package collective
)

// String returns the keyword of GOAL for the kind.
func (k Kind) String() string {
	switch k {
	case Send:
		return "send"
	case Recv:
		return "recv"
	case Calc:
		return "calc"
	case Collective:
		return "collective"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Wildcards of a receive.
const (
	AnySource int32  = -1
	AnyTag    uint32 = 1<<32 - 1
)

// Contexts keep messages of different worlds apart, as communicators do in MPI: a receive accepts
// only messages of its own context, AnyTag or not.
const (
	UserContext       uint8 = 0 // point-to-point messages; the only context that GOAL knows
	CollectiveContext uint8 = 1 // messages inside expanded collectives
	InnerContext      uint8 = 2 // what calls of the program consist of beside messages and collectives; operations of all kinds
	AgentContext      uint8 = 3 // messages that a rank sends without a call of its own, as the target of one-sided communication
)

// Buffered is the bit in the context of a send whose message is copied first, as by MPI_Bsend: it never waits for its receive,
// whatever its size. It is not a part of what a receive accepts.
const Buffered uint8 = 1 << 7

// Op is one operation of a rank. Its index is its position in its block.
type Op struct {
	Size    int64  // bytes; Calc: picoseconds; Collective: index into Block.Calls
	Peer    int32  // Send: destination; Recv: source or AnySource
	Tag     uint32 // Recv: may be AnyTag
	Origin  uint32 // index into Program.Origins; 0: not known
	Kind    Kind
	CPU     uint8 // 0 .. 254
	NIC     uint8 // 0 .. 254
	Context uint8 // Send: may have the bit Buffered
}

// IsBuffered reports whether a send never waits for its receive.
func (op *Op) IsBuffered() bool { return op.Context&Buffered != 0 }

// IsInner reports whether an operation is only a part of a call of the program.
func (op *Op) IsInner() bool { return op.World() == InnerContext || op.World() == AgentContext }

// World is the context by which messages are distinguished, without how they are sent.
func (op *Op) World() uint8 { return op.Context &^ Buffered }

// Origin gives in the user's words where an operation comes from.
type Origin struct {
	Path []string // call path, outermost first
	Call string   // MPI call, e.g. MPI_Allreduce; empty if none
}

// On reports whether the names of path, joined by slashes, stand one after the other in the call path, or are its call.
func (o *Origin) On(path string) bool {
	if path == o.Call && path != "" {
		return true
	}
	names := strings.Split(path, "/")
	for from := 0; from+len(names) <= len(o.Path); from++ {
		if slices.Equal(o.Path[from:from+len(names)], names) {
			return true
		}
	}
	return false
}
