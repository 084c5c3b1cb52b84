package waits

import "slackline/model/timeline"

var earlyReduceInfo = Info{
	Name:    "early_reduce",
	Title:   "Early reduce",
	Short:   "waits as the root for the first data",
	Because: "%s, the last to send, came late",
	Meaning: "Time of the root in a collective that collects data (MPI_Reduce, MPI_Gather) before the first sender entered it: before that nothing " +
		"could have come. The last sender is held responsible.",
	Advice: "Balance the work before the collective, or let the root work while it waits (MPI_Ireduce, MPI_Igather).",
}

var earlyReduceClass = class{
	metric:  EarlyReduce,
	ops:     []timeline.Op{timeline.OpGather, timeline.OpGatherv, timeline.OpReduce},
	depends: func(root, i, j int) bool { return i == root && j != root },
	detect:  waitForFirstSender,
}

// waitForFirstSender lets the root wait until the first of the others that send something has come; the
// last of them is held responsible.
func waitForFirstSender(o *occasion) {
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
