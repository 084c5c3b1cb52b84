package waits

import "slackline/model/timeline"

var lateNeighbor = kind{
	Info: Info{
		Name:    "late_neighbor",
		Title:   "Late neighbor",
		Short:   "waits in a neighborhood collective for a neighbor",
		Because: "%s, a neighbor, came late",
		Meaning: "Time in a neighborhood collective (MPI_Neighbor_alltoall, MPI_Neighbor_allgather) before the last of the neighbors " +
			"that send data to the rank entered it. The cause is that neighbor.",
		Advice: "Balance the work between neighbors; start the exchange earlier (MPI_Ineighbor_alltoall) and work before the MPI_Wait.",
		Color:  Color{"#7A5195", "#A678C4"},
	},
	precedence: collectiveNext,
	collectives: []collective{{
		ops: []timeline.Op{
			timeline.OpNeighborAllgather, timeline.OpNeighborAllgatherv, timeline.OpNeighborAlltoall,
			timeline.OpNeighborAlltoallv, timeline.OpNeighborAlltoallw,
		},
		depends: func(v view, i, j int) bool {
			found := false
			v.eachSource(i, func(source int) { found = found || source == j })
			return found
		},
		detect: waitForNeighbors,
	}},
}

// eachSource visits the neighbors that a member receives data from; false if they are not known.
func (v view) eachSource(i int, visit func(j int)) bool {
	c := v.comm()
	if c.In == nil {
		return false
	}
	in, counts := c.In[i], v.counts(i)
	switch len(counts) {
	case 0:
		if v.tl.Members[v.c.First+i].Received <= 0 {
			return true
		}
	case len(in) + len(c.Out[i]):
		counts = counts[len(c.Out[i]):]
	case len(in):
	default:
		return false
	}
	for e, j := range in {
		if j != timeline.NoNeighbor && int(j) != i && (counts == nil || counts[e] > 0) {
			visit(int(j))
		}
	}
	return true
}

// waitForNeighbors lets every member wait for the last of the neighbors that it receives data from.
func waitForNeighbors(o *instance) {
	for i := range o.parts {
		z := -1
		o.eachSource(i, func(j int) {
			if z < 0 || o.later(j, z) {
				z = j
			}
		})
		if z >= 0 {
			o.wait(i, z, o.parts[z].issued)
		}
	}
}
