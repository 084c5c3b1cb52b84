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
	collectives: []collective{{
		ops: []timeline.Op{timeline.OpBarrier}, depends: dependsOnAll, detect: waitForLast, completion: BarrierCompletion,
	}},
}

// waitForLast lets all members wait for the last to enter, those of an intercommunicator for the last of the other group.
func waitForLast(o *instance) {
	for _, s := range o.sides() {
		waitForLastOf(o, s)
	}
}

// waitForLastOfAll lets all members wait for the last to enter, of both groups.
func waitForLastOfAll(o *instance) { waitForLastOf(o, side{0, len(o.parts), 0, len(o.parts)}) }

func waitForLastOf(o *instance, s side) {
	z := o.lastOf(s.causeFrom, s.causeTo, func(*part) bool { return true })
	for i := s.from; i < s.to; i++ {
		if i != z {
			o.wait(i, z, o.parts[z].issued)
		}
	}
}
