package waits

import (
	"slackline/model/timeline"
)

var lateBroadcast = kind{
	Info: Info{
		Name:    "late_broadcast",
		Title:   "Late broadcast",
		Short:   "waits for the root of a collective",
		Because: "the root, %s, came late",
		Meaning: "Time in a collective that distributes data from a root (MPI_Bcast, MPI_Scatter) before the root entered it. The " +
			"cause is the root. A member that receives nothing does not wait.",
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

var earlyReduce = kind{
	Info: Info{
		Name:    "early_reduce",
		Title:   "Early reduce",
		Short:   "waits as the root for the first data",
		Because: "%s, the last to send, came late",
		Meaning: "Time of the root in a collective that collects data (MPI_Reduce, MPI_Gather) before the first sender entered it: " +
			"before that nothing could have arrived. The cause is the last sender. The rest of the wait is late_contributor.",
		Advice: "Balance the work before the collective, or let the root work while it waits (MPI_Ireduce, MPI_Igather).",
		Color:  Color{"#F0C419", "#F0E05A"},
	},
	precedence: collectiveNext,
}

var lateContributor = kind{
	Info: Info{
		Name:    "late_contributor",
		Title:   "Late contributor",
		Short:   "waits as the root for the last data",
		Because: "%s, the last to send, came late",
		Meaning: "Time of the root in a collective that collects data (MPI_Reduce, MPI_Gather) after the first sender entered it and " +
			"before the last one did: the root had data to receive, but not all. The cause is the last sender. With early_reduce, the " +
			"time before the first sender entered, it is one wait state.",
		Advice: "Balance the work before the collective, give the last sender less to do, or let the root work while it waits " +
			"(MPI_Ireduce, MPI_Igather).",
		Color: Color{"#D98E04", "#F2B544"},
	},
	precedence: collectiveNext,
	before:     &earlyReduce,
	collectives: []collective{{
		ops:     []timeline.Op{timeline.OpGather, timeline.OpGatherv, timeline.OpReduce},
		depends: func(v view, i, j int) bool { return i == int(v.c.Root) && i != j },
		detect:  waitForContributors,
	}},
}

// waitForContributors lets the root wait for the last of the members that send data. Its time before the first of them entered is
// early_reduce.
func waitForContributors(o *instance) {
	if !o.hasRoot() || o.parts[o.root].received <= 0 {
		return
	}
	root := &o.parts[o.root]
	first, z := root.done.leave, -1
	for i := range o.parts {
		p := &o.parts[i]
		if i == o.root || !o.apart(i, o.root) || p.sent <= 0 {
			continue
		}
		first = min(first, p.issued)
		if z < 0 || o.later(i, z) {
			z = i
		}
	}
	if z < 0 {
		return
	}
	n := len(o.waits)
	o.wait(o.root, z, o.parts[z].issued)
	if len(o.waits) > n {
		o.waits[n].before = max(0, first-root.done.enter)
	}
}
