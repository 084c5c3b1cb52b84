package waits

import "slackline/model/timeline"

var barrierInfo = Info{
	Name:    "barrier",
	Title:   "Wait at barrier",
	Short:   "waits at a barrier",
	Because: "%s came last",
	Meaning: "Time in MPI_Barrier before the last member entered it: min(enter of the last, own leave) - own enter. " +
		"The last to enter is held responsible.",
	Advice: "Balance the work before the barrier, or leave the barrier out.",
}

var barrierClass = class{
	metric:     Barrier,
	ops:        []timeline.Op{timeline.OpBarrier},
	depends:    func(_, _, _ int) bool { return true },
	detect:     waitForLast,
	completion: BarrierCompletion,
}

// waitForLast lets everybody wait for the last to enter.
func waitForLast(o *occasion) {
	z := o.last(func(*part) bool { return true })
	for i := range o.parts {
		if i != z {
			o.wait(i, z, o.parts[z].issued)
		}
	}
}
