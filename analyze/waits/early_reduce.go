package waits

import "slackline/model/timeline"

var earlyReduce = kind{
	Info: Info{
		Name:    "early_reduce",
		Title:   "Early reduce",
		Short:   "waits as the root for the first data",
		Because: "%s, the last to send, came late",
		Meaning: "Time of the root in a collective that collects data (MPI_Reduce, MPI_Gather) before the first sender entered it: before that nothing " +
			"could have arrived. The cause is the last sender.",
		Advice: "Balance the work before the collective, or let the root work while it waits (MPI_Ireduce, MPI_Igather).",
		Color:  Color{"#F0C419", "#F0E05A"},
	},
	precedence: collectiveNext,
	collective: &collective{
		ops:     []timeline.Op{timeline.OpGather, timeline.OpGatherv, timeline.OpReduce},
		depends: func(root, i, j int) bool { return i == root && j != root },
		detect:  waitForFirstSender,
	},
}

// waitForFirstSender lets the root wait until the first of the other members that send data has entered; the cause is the
// last of them.
func waitForFirstSender(o *instance) {
	if !o.hasRoot() || o.parts[o.root].received <= 0 {
		return
	}
	root := &o.parts[o.root]
	z := o.last(func(p *part) bool { return p != root && p.sent > 0 })
	if z < 0 {
		return
	}
	first := o.parts[z].issued
	for i := range o.parts {
		if i != o.root && o.parts[i].sent > 0 {
			first = min(first, o.parts[i].issued)
		}
	}
	o.wait(o.root, z, first)
}
