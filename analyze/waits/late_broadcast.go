package waits

import "slackline/model/timeline"

var lateBroadcast = kind{
	Info: Info{
		Name:    "late_broadcast",
		Title:   "Late broadcast",
		Short:   "waits for the root of a collective",
		Because: "the root, %s, came late",
		Meaning: "Time in a collective that distributes data from a root (MPI_Bcast, MPI_Scatter) before the root entered it. The cause is the root. " +
			"A member that receives nothing does not wait.",
		Advice: "Let the root prepare the data earlier, share its extra work (reading, set-up) among the ranks, or use MPI_Ibcast.",
		Color:  Color{"#E8836B", "#F39C84"},
	},
	precedence: collectiveNext,
	collectives: []collective{{
		ops:     []timeline.Op{timeline.OpBcast, timeline.OpScatter, timeline.OpScatterv},
		depends: func(v view, i, j int) bool { return j == int(v.c.Root) && i != j },
		detect:  waitForRoot,
	}},
}

// waitForRoot lets members that receive data wait for the root.
func waitForRoot(o *instance) {
	if !o.hasRoot() {
		return
	}
	for i := range o.parts {
		if i != o.root && o.apart(i, o.root) && o.parts[i].received > 0 {
			o.wait(i, o.root, o.parts[o.root].issued)
		}
	}
}
