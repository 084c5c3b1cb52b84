// Package collective turns MPI collectives into point-to-point schedules.
//
// Each algorithm stands in a file of its own and is listed once, in the registry; the proof by
// data flow, the help texts and the mappings pick it up from there. A Mapping chooses algorithms
// by operation, size and number of ranks; an Expansion applies it to a program while the program
// is run. The package knows nothing of machines but the cost of a reduction.
package collective

import "slackline/model/schedule"

// Algorithm is one way to carry out a collective operation with messages.
type Algorithm struct {
	Op   schedule.Operation
	Name string // unique among the algorithms of Op, e.g. "binomial"
	Info string // one line for lists and documents

	// Step fills b with step (0, 1, ...) of what rank me of the group does, and reports whether
	// there was such a step. All operations of a step require all of the step before. Peers
	// are ranks in the group. Messages carry no tag and no context: the expansion adds them.
	// A step may be empty. The work of a reduction is added with Reduce.
	Step func(in *Instance, me, step int, b *schedule.Block) bool
}

// Instance is a collective call on a group of known size, with the choices made for it.
type Instance struct {
	schedule.Call
	Ranks     int   // size of the group
	Segment   int64 // segment size of pipelined algorithms in bytes; 0: not segmented
	Radix     int   // of k-nomial trees and the like; 0: the algorithm's default
	Algorithm *Algorithm
}

// Reduce adds the CPU work of combining size bytes to a step. The expansion turns it into a
// calculation of size * gamma; without such a cost it is left out.
func Reduce(b *schedule.Block, size int64) {
	if size > 0 {
		b.Add(schedule.Op{Kind: schedule.Calc, Size: size, Tag: reduceTag})
	}
}

// reduceTag marks the calculations added by Reduce.
const reduceTag = 1
