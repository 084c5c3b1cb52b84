package waits

import "slackline/model/timeline"

var nxn = kind{
	Info: Info{
		Name:    "nxn",
		Title:   "Wait at n-to-n",
		Short:   "waits in a collective that needs data of all",
		Because: "%s came last",
		Meaning: "Time in a collective that needs data of every member (MPI_Allreduce, MPI_Allgather, MPI_Alltoall, " +
			"MPI_Reduce_scatter) before the last one that sends anything entered it; in MPI_Alltoallv and MPI_Alltoallw the last of those " +
			"that send to the member itself. The cause is that one. A member that receives nothing does not wait.",
		Advice: "Balance the work before the collective; use its non-blocking form and work before the MPI_Wait.",
		Color:  Color{"#E69F00", "#E6A817"},
	},
	precedence: collectiveNext,
	collectives: []collective{
		{
			ops: []timeline.Op{
				timeline.OpAllgather, timeline.OpAllgatherv, timeline.OpAlltoall, timeline.OpAllreduce,
				timeline.OpReduceScatter, timeline.OpReduceScatterBlock,
			},
			depends: dependsOnAll, detect: waitForLastSender, completion: NxNCompletion,
		},
		{ops: []timeline.Op{timeline.OpAlltoallv, timeline.OpAlltoallw}, depends: receivesFrom, detect: waitForSources, valid: knowsCounts},
	},
}

// waitForLastSender lets members that receive data wait for the last that sends data.
func waitForLastSender(o *instance) {
	for _, s := range o.sides() {
		z := o.lastOf(s.causeFrom, s.causeTo, func(p *part) bool { return p.sent > 0 })
		if z < 0 {
			continue
		}
		for i := s.from; i < s.to; i++ {
			if i != z && o.parts[i].received > 0 {
				o.wait(i, z, o.parts[z].issued)
			}
		}
	}
}

// knowsCounts reports whether every member has its bytes by peer, sent and received.
func knowsCounts(o *instance) bool {
	for i := range o.members {
		if from, to := o.peers(i); len(o.counts(i)) != 2*(to-from) {
			return false
		}
	}
	return true
}

// receivesFrom reports whether member i receives bytes from member j, by its own list.
func receivesFrom(v view, i, j int) bool {
	from, to := v.peers(i)
	return j != i && j >= from && j < to && v.counts(i)[to-from+j-from] > 0
}

// waitForSources lets every member wait for the last of those that it receives data from.
func waitForSources(o *instance) {
	for i := range o.parts {
		from, to := o.peers(i)
		received := o.counts(i)[to-from:]
		z := -1
		for k, bytes := range received {
			if j := from + k; bytes > 0 && j != i && (z < 0 || o.later(j, z)) {
				z = j
			}
		}
		if z >= 0 {
			o.wait(i, z, o.parts[z].issued)
		}
	}
}
