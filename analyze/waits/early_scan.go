package waits

import "slackline/model/timeline"

var earlyScanInfo = Info{
	Name:    "early_scan",
	Title:   "Early scan",
	Short:   "waits in a scan for the ranks before it",
	Because: "%s, before it in the scan, came late",
	Meaning: "Time in MPI_Scan or MPI_Exscan before the last of the members with a lower rank in the communicator entered it. " +
		"That one is held responsible.",
	Advice: "Balance the work before the scan, or order the ranks so that those with more work come last.",
}

var earlyScanClass = class{
	metric:  EarlyScan,
	ops:     []timeline.Op{timeline.OpScan, timeline.OpExscan},
	depends: func(_, i, j int) bool { return j < i },
	detect:  waitForLower,
}

// waitForLower lets every member wait for the last of those before it.
func waitForLower(o *occasion) {
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
