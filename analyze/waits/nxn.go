package waits

import "slackline/model/timeline"

var nxn = kind{
	Info: Info{
		Name:    "nxn",
		Title:   "Wait at n-to-n",
		Short:   "waits in a collective that needs data of all",
		Because: "%s came last",
		Meaning: "Time in a collective that needs data of every member (MPI_Allreduce, MPI_Allgather, MPI_Alltoall, MPI_Reduce_scatter) " +
			"before the last one that sends anything entered it. The cause is that member. A member that receives nothing does not wait.",
		Advice: "Balance the work before the collective; use its non-blocking form and work before the MPI_Wait.",
		Color:  Color{"#E69F00", "#E6A817"},
	},
	precedence: collectiveNext,
	collective: &collective{
		ops: []timeline.Op{
			timeline.OpAllgather, timeline.OpAllgatherv, timeline.OpAlltoall, timeline.OpAllreduce,
			timeline.OpReduceScatter, timeline.OpReduceScatterBlock,
		},
		depends: dependsOnAll, detect: waitForLastSender, completion: NxNCompletion,
	},
}

// waitForLastSender lets members that receive data wait for the last that sends data.
func waitForLastSender(o *instance) {
	z := o.last(func(p *part) bool { return p.sent > 0 })
	if z < 0 {
		return
	}
	for i := range o.parts {
		if i != z && o.parts[i].received > 0 {
			o.wait(i, z, o.parts[z].issued)
		}
	}
}
