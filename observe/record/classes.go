package record

import "slackline/model/timeline"

// collectiveOps are the collectives by class, with the operation that they are in a trace.
var collectiveOps = map[string]timeline.Op{
	"barrier": timeline.OpBarrier, "bcast": timeline.OpBcast,
	"gather": timeline.OpGather, "gatherv": timeline.OpGatherv,
	"scatter": timeline.OpScatter, "scatterv": timeline.OpScatterv,
	"allgather": timeline.OpAllgather, "allgatherv": timeline.OpAllgatherv,
	"alltoall": timeline.OpAlltoall, "alltoallv": timeline.OpAlltoallv, "alltoallw": timeline.OpAlltoallw,
	"reduce": timeline.OpReduce, "allreduce": timeline.OpAllreduce,
	"reduce_scatter": timeline.OpReduceScatter, "reduce_scatter_block": timeline.OpReduceScatterBlock,
	"scan": timeline.OpScan, "exscan": timeline.OpExscan,
	"neighbor_allgather": timeline.OpNeighborAllgather, "neighbor_allgatherv": timeline.OpNeighborAllgatherv,
	"neighbor_alltoall": timeline.OpNeighborAlltoall, "neighbor_alltoallv": timeline.OpNeighborAlltoallv,
	"neighbor_alltoallw": timeline.OpNeighborAlltoallw,
}
