package waits

import "slackline/model/timeline"

var earlyScan = kind{
	Info: Info{
		Name:    "early_scan",
		Title:   "Early scan",
		Short:   "waits in a scan for the ranks before it",
		Because: "%s, before it in the scan, came late",
		Meaning: "Time in MPI_Scan or MPI_Exscan before the last of the members with a lower rank in the communicator entered it. " +
			"The cause is that member.",
		Advice: "Balance the work before the scan, or order the ranks so that those with more work come last.",
		Color:  Color{"#A33B20", "#C9583A"},
	},
	precedence: collectiveNext,
	collectives: []collective{{
		ops:     []timeline.Op{timeline.OpScan, timeline.OpExscan},
		depends: func(_ view, i, j int) bool { return j < i },
		detect:  waitForLower,
	}},
}

// waitForLower lets every member wait for the last of the members before it.
func waitForLower(o *instance) {
	z := 0
	for i := 1; i < len(o.parts); i++ {
		if p := &o.parts[i]; p.sent > 0 || p.received > 0 {
			o.wait(i, z, o.parts[z].issued)
		}
		if o.later(i, z) {
			z = i
		}
	}
}
