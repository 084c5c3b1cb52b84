package record

import "slackline/model/timeline"

// collectiveOps are the collectives by class, with the operation that they are in a trace; those with -1 have none.
var collectiveOps = map[string]int{
	"barrier": int(timeline.OpBarrier), "bcast": int(timeline.OpBcast),
	"gather": int(timeline.OpGather), "gatherv": int(timeline.OpGatherv),
	"scatter": int(timeline.OpScatter), "scatterv": int(timeline.OpScatterv),
	"allgather": int(timeline.OpAllgather), "allgatherv": int(timeline.OpAllgatherv),
	"alltoall": int(timeline.OpAlltoall), "alltoallv": int(timeline.OpAlltoallv), "alltoallw": int(timeline.OpAlltoallw),
	"reduce": int(timeline.OpReduce), "allreduce": int(timeline.OpAllreduce),
	"reduce_scatter": int(timeline.OpReduceScatter), "reduce_scatter_block": int(timeline.OpReduceScatterBlock),
	"scan": int(timeline.OpScan), "exscan": int(timeline.OpExscan),
	"neighbor_allgather": -1, "neighbor_allgatherv": -1,
	"neighbor_alltoall": -1, "neighbor_alltoallv": -1, "neighbor_alltoallw": -1,
}
