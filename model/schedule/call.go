package schedule

// Operation names a collective operation of MPI.
type Operation uint8

// The collective operations. What Call.Size means is said beside each.
const (
	Barrier           Operation = iota // no data
	Bcast                              // the message
	Reduce                             // the vector
	Allreduce                          // the vector
	Gather                             // what each rank contributes
	Scatter                            // what each rank receives
	Allgather                          // what each rank contributes
	Alltoall                           // what each rank sends to each rank
	ReduceScatter                      // what each rank receives (block form)
	Scan                               // the vector
	Exscan                             // the vector
	NeighborAllgather                  // what each rank sends to each neighbor
	NeighborAlltoall                   // what each rank sends to each neighbor
	numOperations
)

var operationNames = [numOperations]string{
	"barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
	"reduce_scatter", "scan", "exscan", "neighbor_allgather", "neighbor_alltoall",
}

// String returns the name as MPI spells it, in lower case and without MPI_.
func (o Operation) String() string {
	if o < numOperations {
		return operationNames[o]
	}
	return "unknown"
}

// IsNeighbor reports whether the operation is among the neighbors of each rank.
func (o Operation) IsNeighbor() bool { return o == NeighborAllgather || o == NeighborAlltoall }

// Operations returns all collective operations, in their order above.
func Operations() []Operation {
	ops := make([]Operation, numOperations)
	for i := range ops {
		ops[i] = Operation(i)
	}
	return ops
}

// Call is a collective operation that has not been turned into messages yet: one rank's part of
// it. All ranks of the group give the same Op, Group, Root, Tag, Algorithm and, for their own
// number of ranks and sizes, the same Size and Sizes.
type Call struct {
	Op    Operation
	Group int32 // index into Program.Groups
	Root  int32 // rank in the group
	Size  int64 // bytes; see Operation
	// Sizes makes it the v-variant: bytes by rank in the group (gatherv, scatterv, allgatherv,
	// reduce_scatter with counts; for alltoallv by sender * group size + receiver). Nil: all
	// Size.
	Sizes []int64
	// Neighbors lists, for the neighborhood collectives, this rank's sources and destinations
	// as ranks in the group.
	Sources, Destinations []int32
	// Tag distinguishes collectives that may be under way at the same time between the same
	// ranks. Blocking collectives may all use 0.
	Tag uint32
	// Algorithm names the algorithm; empty: the mapping chooses.
	Algorithm string
}
