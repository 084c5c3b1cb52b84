package trace

import (
	"slices"
	"strings"

	"slackline/model/timeline"
)

// opNames are the names of the collective operations in MPI, in lower case and without their prefix.
var opNames = [numOps]string{
	timeline.OpBarrier: "barrier", timeline.OpBcast: "bcast", timeline.OpGather: "gather", timeline.OpGatherv: "gatherv",
	timeline.OpScatter: "scatter", timeline.OpScatterv: "scatterv", timeline.OpAllgather: "allgather",
	timeline.OpAllgatherv: "allgatherv", timeline.OpAlltoall: "alltoall", timeline.OpAlltoallv: "alltoallv",
	timeline.OpAlltoallw: "alltoallw", timeline.OpAllreduce: "allreduce", timeline.OpReduce: "reduce",
	timeline.OpReduceScatter: "reduce_scatter", timeline.OpScan: "scan", timeline.OpExscan: "exscan",
	timeline.OpReduceScatterBlock: "reduce_scatter_block", timeline.OpCreateHandle: "create_handle",
	timeline.OpDestroyHandle: "destroy_handle", timeline.OpAllocate: "allocate", timeline.OpDeallocate: "deallocate",
	timeline.OpCreateHandleAllocate: "create_handle_allocate", timeline.OpDestroyHandleDeallocate: "destroy_handle_deallocate",
}

// opNamed returns the operation of that name, in lower case and without prefix.
func opNamed(name string) (timeline.Op, bool) {
	i := slices.Index(opNames[:], name)
	return timeline.Op(max(i, 0)), i >= 0
}

// pointToPoint and oneSided are names of MPI calls, in lower case and without prefix.
var (
	pointToPoint = strings.Fields("send bsend ssend rsend recv isend ibsend issend irsend irecv sendrecv isendrecv " +
		"probe iprobe mprobe improbe mrecv imrecv psend precv pready pready_range pready_list parrived start startall " +
		"wait waitall waitany waitsome test testall testany testsome request_free cancel")
	oneSided = strings.Fields("put get accumulate get_accumulate fetch_and_op compare_and_swap rput rget raccumulate rget_accumulate")
)

// RegionNamed returns the region of a function as far as its name tells: calls of MPI by their prefix,
// OpenMP constructs as Score-P names them (!$omp parallel @file:line), and functions of the program.
func RegionNamed(name string) timeline.Region {
	r := timeline.Region{Name: name}
	lower := strings.ToLower(name)
	if call, ok := strings.CutPrefix(lower, "mpi_"); ok {
		r.Paradigm, r.Role = timeline.MPI, mpiRole(call)
	} else if what, ok := strings.CutPrefix(lower, "!$omp "); ok {
		r.Paradigm, r.Role = timeline.OpenMP, openMPRole(what)
	}
	return r
}

// mpiRole returns the role of an MPI call, in lower case and without prefix.
func mpiRole(call string) timeline.Role {
	if strings.HasPrefix(call, "file_") {
		return timeline.FileIO
	}
	call = strings.TrimSuffix(call, "_c") // calls with large counts
	if strings.HasPrefix(call, "win_") || slices.Contains(oneSided, call) {
		return timeline.OneSided
	}
	call = strings.TrimSuffix(strings.TrimSuffix(call, "_init"), "_replace")
	if slices.Contains(pointToPoint, call) {
		return timeline.PointToPoint
	}
	if _, ok := collectiveOp(call); ok {
		return timeline.CollectiveCall
	}
	return timeline.Function
}

// collectiveOp returns the operation of a collective call, in lower case and without prefix, blocking or not,
// of all ranks or of neighbours.
func collectiveOp(call string) (timeline.Op, bool) {
	for _, prefix := range []string{"", "i", "neighbor_", "ineighbor_"} {
		if name, ok := strings.CutPrefix(call, prefix); ok {
			if op, ok := opNamed(name); ok && op <= timeline.OpReduceScatterBlock {
				return op, true
			}
		}
	}
	return 0, false
}

// openMPRole returns the role of an OpenMP construct, as Score-P names it.
func openMPRole(what string) timeline.Role {
	for _, known := range []struct {
		prefix string
		role   timeline.Role
	}{
		{"parallel", timeline.Parallel}, {"barrier", timeline.Barrier}, {"implicit barrier", timeline.ImplicitBarrier},
		{"ibarrier", timeline.ImplicitBarrier}, {"for", timeline.Workshare}, {"do", timeline.Workshare},
		{"single", timeline.Workshare}, {"sections", timeline.Workshare}, {"critical", timeline.Workshare},
		{"workshare", timeline.Workshare}, {"loop", timeline.Workshare},
	} {
		if strings.HasPrefix(what, known.prefix) {
			return known.role
		}
	}
	return timeline.Function
}
