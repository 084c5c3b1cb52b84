package timeline

import (
	"slices"
	"strings"
)

// numOps is the number of collective operations.
const numOps = OpNeighborAlltoallw + 1

// opNames are the names of the collective operations in MPI, in lower case and without their prefix.
var opNames = [numOps]string{
	OpBarrier: "barrier", OpBcast: "bcast", OpGather: "gather", OpGatherv: "gatherv",
	OpScatter: "scatter", OpScatterv: "scatterv", OpAllgather: "allgather",
	OpAllgatherv: "allgatherv", OpAlltoall: "alltoall", OpAlltoallv: "alltoallv",
	OpAlltoallw: "alltoallw", OpAllreduce: "allreduce", OpReduce: "reduce",
	OpReduceScatter: "reduce_scatter", OpScan: "scan", OpExscan: "exscan",
	OpReduceScatterBlock: "reduce_scatter_block", OpCreateHandle: "create_handle",
	OpDestroyHandle: "destroy_handle", OpAllocate: "allocate", OpDeallocate: "deallocate",
	OpCreateHandleAllocate: "create_handle_allocate", OpDestroyHandleDeallocate: "destroy_handle_deallocate",
	OpNeighborAllgather: "neighbor_allgather", OpNeighborAllgatherv: "neighbor_allgatherv", OpNeighborAlltoall: "neighbor_alltoall",
	OpNeighborAlltoallv: "neighbor_alltoallv", OpNeighborAlltoallw: "neighbor_alltoallw",
}

// String returns the name of the operation as MPI spells it, in lower case and without MPI_.
func (op Op) String() string {
	if op < numOps {
		return opNames[op]
	}
	return "unknown"
}

// MarshalText returns the name of the operation.
func (op Op) MarshalText() ([]byte, error) { return []byte(op.String()), nil }

// Rooted reports whether the operation has a root.
func (op Op) Rooted() bool {
	switch op {
	case OpBcast, OpReduce, OpGather, OpGatherv, OpScatter, OpScatterv:
		return true
	}
	return false
}

// OpNamed returns the operation of that name, in lower case and without prefix.
func OpNamed(name string) (Op, bool) {
	i := slices.Index(opNames[:], name)
	return Op(max(i, 0)), i >= 0
}

// pointToPoint and oneSided are names of MPI calls, in lower case and without prefix.
var (
	pointToPoint = strings.Fields("send bsend ssend rsend recv isend ibsend issend irsend irecv sendrecv isendrecv " +
		"probe iprobe mprobe improbe mrecv imrecv psend precv pready pready_range pready_list parrived start startall " +
		"request_get_status wait waitall waitany waitsome test testall testany testsome request_free cancel")
	oneSided = strings.Fields("put get accumulate get_accumulate fetch_and_op compare_and_swap rput rget raccumulate rget_accumulate")
)

// RegionNamed returns the region of a function as far as its name tells: calls of MPI by their prefix,
// OpenMP constructs as Score-P names them (!$omp parallel @file:line), and functions of the program.
func RegionNamed(name string) Region {
	r := Region{Name: name}
	lower := strings.ToLower(name)
	if call, ok := strings.CutPrefix(lower, "mpi_"); ok {
		r.Paradigm, r.Role = MPI, mpiRole(call)
	} else if what, ok := strings.CutPrefix(lower, "!$omp "); ok {
		r.Paradigm, r.Role = OpenMP, openMPRole(what)
	}
	return r
}

// mpiRole returns the role of an MPI call, in lower case and without prefix.
func mpiRole(call string) Role {
	if strings.HasPrefix(call, "file_") {
		return FileIO
	}
	call = strings.TrimSuffix(call, "_c") // calls with large counts
	if strings.HasPrefix(call, "win_") || slices.Contains(oneSided, call) {
		return OneSided
	}
	call = strings.TrimSuffix(strings.TrimSuffix(call, "_init"), "_replace")
	if slices.Contains(pointToPoint, call) {
		return PointToPoint
	}
	if _, ok := CollectiveOp(call); ok {
		return CollectiveCall
	}
	return Function
}

// CollectiveOp returns the operation of a collective call, in lower case and without prefix, blocking or not,
// of all ranks or of neighbors.
func CollectiveOp(call string) (Op, bool) {
	for _, name := range []string{call, strings.TrimPrefix(call, "i")} {
		if op, ok := OpNamed(name); ok && (op <= OpReduceScatterBlock || op.IsNeighbor()) {
			return op, true
		}
	}
	return 0, false
}

// Communicates reports whether a call of the region lets the MPI library make progress: communication, I/O and their completion, not
// local queries.
func (r *Region) Communicates() bool {
	if r.Paradigm != MPI {
		return false
	}
	switch r.Role {
	case PointToPoint, CollectiveCall, FileIO, OneSided, Barrier:
		return true
	}
	return r.Name == "MPI_Init" || r.Name == "MPI_Init_thread" || r.Name == "MPI_Finalize"
}

// local are calls of MPI that need no other process, in lower case and without prefix; an ending * stands for any rest.
var local = strings.Fields("abort add_error_* address aint_* alloc_mem attr_* buffer_attach cancel cart_coords cart_get cart_map " +
	"cart_rank cart_shift cartdim_get comm_call_errhandler comm_compare comm_create_errhandler comm_create_keyval comm_delete_attr " +
	"comm_free comm_free_keyval comm_get_* comm_group comm_rank comm_remote_* comm_set_* comm_size comm_test_inter dims_create " +
	"dist_graph_neighbors* errhandler_* error_* file_get_* finalized free_mem get_address get_count get_elements* " +
	"get_library_version get_processor_name get_version graph_get graph_map graph_neighbors* graphdims_get group_* info_* " +
	"initialized is_thread_main keyval_* op_* pack* pcontrol pready* query_thread register_datarep request_free " +
	"session_call_errhandler session_create_errhandler session_get_* session_set_* sizeof start startall status_* t_* " +
	"test_cancelled topo_test type_* unpack* win_attach win_call_errhandler win_create_errhandler win_create_keyval win_delete_attr " +
	"win_detach win_free_keyval win_get_* win_set_* win_shared_query win_sync wtick wtime")

// IsLocal reports whether a call of MPI needs no other process, so that it never waits for one. Calls that prepare persistent
// operations are among them.
func (r *Region) IsLocal() bool {
	call, ok := strings.CutPrefix(strings.TrimRight(strings.ToLower(r.Name), "_"), "mpi_")
	if !ok {
		return false
	}
	call = strings.TrimSuffix(call, "_c")
	return strings.HasSuffix(call, "_init") || slices.ContainsFunc(local, func(name string) bool {
		prefix, open := strings.CutSuffix(name, "*")
		return call == prefix || open && strings.HasPrefix(call, prefix)
	})
}

// openMPRole returns the role of an OpenMP construct, as Score-P names it.
func openMPRole(what string) Role {
	for _, known := range []struct {
		prefix string
		role   Role
	}{
		{"parallel", Parallel}, {"barrier", Barrier}, {"implicit barrier", ImplicitBarrier},
		{"ibarrier", ImplicitBarrier}, {"for", Workshare}, {"do", Workshare},
		{"single", Workshare}, {"sections", Workshare}, {"critical", Workshare},
		{"workshare", Workshare}, {"loop", Workshare},
	} {
		if strings.HasPrefix(what, known.prefix) {
			return known.role
		}
	}
	return Function
}

// IsTest reports whether a call of MPI only tests whether something is there.
func IsTest(name string) bool {
	switch name {
	case "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Win_test", "MPI_Parrived", "MPI_Request_get_status",
		"MPI_Iprobe", "MPI_Improbe":
		return true
	}
	return false
}
