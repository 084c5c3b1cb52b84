package waits

import "slackline/model/timeline"

var lateBroadcastInfo = Info{
	Name:    "late_broadcast",
	Title:   "Late broadcast",
	Short:   "waits for the root of a collective",
	Because: "the root, %s, came late",
	Meaning: "Time in a collective that spreads data from a root (MPI_Bcast, MPI_Scatter) before the root entered it. The root is held responsible. " +
		"A member that receives nothing does not wait.",
	Advice: "Let the root prepare the data earlier, share its extra work (reading, set-up) among the ranks, or use MPI_Ibcast.",
}

var lateBroadcastClass = class{
	metric:  LateBroadcast,
	ops:     []timeline.Op{timeline.OpBcast, timeline.OpScatter, timeline.OpScatterv},
	depends: func(root, i, j int) bool { return j == root && i != root },
	detect:  waitForRoot,
}

// waitForRoot lets those that receive something wait for the root.
func waitForRoot(o *occasion) {
	if !o.hasRoot() {
		return
	}
	for i := range o.parts {
		if i != o.root && o.parts[i].received > 0 {
			o.wait(i, o.root, o.parts[o.root].issued)
		}
	}
}
