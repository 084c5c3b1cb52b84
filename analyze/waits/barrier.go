package waits

import "slackline/model/timeline"

var barrier = kind{
	Info: Info{
		Name:    "barrier",
		Title:   "Wait at barrier",
		Short:   "waits at a barrier",
		Because: "%s came last",
		Meaning: "Time in MPI_Barrier before the last member entered it: min(enter of the last, own leave) - own enter. " +
			"The cause is the last to enter.",
		Advice: "Balance the work before the barrier, or leave the barrier out.",
		Color:  Color{"#8C5A00", "#B98324"},
	},
	precedence: collectiveNext,
	collective: &collective{
		ops: []timeline.Op{timeline.OpBarrier}, depends: dependsOnAll, detect: waitForLast, completion: BarrierCompletion,
	},
}

// waitForLast lets all members wait for the last to enter.
func waitForLast(o *instance) {
	z := o.last(func(*part) bool { return true })
	for i := range o.parts {
		if i != z {
			o.wait(i, z, o.parts[z].issued)
		}
	}
}
