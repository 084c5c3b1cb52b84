// Package collective turns MPI collectives into point-to-point schedules.
//
// Each algorithm is in a file of its own and is listed once, in the registry; the proof by
// data flow, the help texts and the mappings pick it up from there. A Mapping chooses algorithms
// by operation, size and number of ranks; an Expansion applies it to a program while the program
// is run. The package knows nothing of machines but the cost of a reduction.
//
// Conventions that hold for all algorithms:
//
//   - An algorithm works for any number of ranks and any root. On one rank it has no step.
//   - A vector that does not divide evenly is cut so that the first blocks are one byte longer.
//   - A block of 0 bytes is sent as a message of 0 bytes. Which messages there are follows from
//     the ranks alone, never from the sizes.
//   - Reductions are taken to be commutative.
//   - The messages of a barrier have 1 byte.
package collective

import "slackline/model/schedule"

// Algorithm is one way to carry out a collective operation with messages.
type Algorithm struct {
	Op   schedule.Operation
	Name string // unique among the algorithms of Op, e.g. "binomial"
	Info string // one line for lists and documents

	// Rounds and Volume are cost hints for documents: how many messages lie on the longest chain
	// in which each one waits for the one before, and how many bytes the busiest rank sends. P
	// is the number of ranks, a power of two (otherwise it is a little more), s the size as
	// Call.Size means it (1 in a barrier), k the radix, n the number of segments, d the number
	// of neighbors; lg is the logarithm to base 2.
	Rounds, Volume string

	Segmented bool  // takes a segment size
	Segment   int64 // segment size unless another one is asked for; 0: not segmented
	Radix     int   // radix unless another one is asked for; 0: takes none
	NCCL      bool  // an algorithm of NCCL: takes a protocol, and knows of nodes

	// Repeats marks a timing pattern that combines some contributions more than once when the
	// number of ranks is not a power of two.
	Repeats bool

	// Step fills the empty block b with step (0, 1, ...) of what rank me does, and reports whether
	// there was such a step. All operations of a step require all of the step before. Peers
	// are ranks in the group. Messages carry no tag and no context: the expansion adds them.
	// A step may be empty. The work of a reduction is added with Instance.reduce. Step keeps no state
	// and may be called for any rank and step, in any order, from any goroutine.
	Step func(in *Instance, me, step int, b *schedule.Block) bool

	// Exchange is a short form of Step, if every step of a rank is one send and one receive: the
	// rank that gets size bytes and the rank from which a message comes. It is used where
	// reductions cost nothing.
	Exchange func(in *Instance, me, step int) (to, from int32, size int64, ok bool)

	// parts is the number of pieces in which the algorithm moves a vector; nil: one. They are equal if even is set; else
	// segments are full but for the last one.
	parts func(in *Instance) int
	even  bool

	tunes []*Algorithm // of which one is chosen for an instance
}

// Instance is a collective call on a group of known size, with the choices made for it. It is
// made by NewInstance, or by a Mapping.
type Instance struct {
	schedule.Call
	Ranks     int   // size of the group
	Segment   int64 // segment size of pipelined algorithms in bytes; 0: not segmented
	Radix     int   // of k-nomial trees and the like; 0: the algorithm takes none
	Algorithm *Algorithm

	// FreeReduce states that reductions cost nothing. Algorithms then leave out the steps that
	// only reduce. This saves time and changes no result.
	FreeReduce bool

	partition
	nccl
}

// reduce adds the CPU work of combining size bytes to a step, unless it costs nothing. The expansion
// turns it into a calculation of size * gamma.
func (in *Instance) reduce(b *schedule.Block, size int64) {
	if size > 0 && !in.FreeReduce {
		b.Add(schedule.Op{Kind: schedule.Calc, Size: size, Tag: reduceTag})
	}
}

// reduceTag marks the calculations added by reduce.
const reduceTag = 1

// round splits a step of an algorithm in which every round of messages is followed by a step that
// only reduces: the number of the round, and whether the step is the one that reduces.
func (in *Instance) round(step int) (round int, reduces bool) {
	if in.FreeReduce {
		return step, false
	}
	return step >> 1, step&1 != 0
}

// relative returns the rank of me counted from the root on.
func (in *Instance) relative(me int) int { return wrap(me-int(in.Root), in.Ranks) }

// absolute is the inverse of relative.
func (in *Instance) absolute(v int) int { return wrap(v+int(in.Root), in.Ranks) }

// wrap brings i, which is less than n out of range, into 0 .. n-1.
func wrap(i, n int) int {
	if i < 0 {
		return i + n
	}
	if i >= n {
		return i - n
	}
	return i
}
