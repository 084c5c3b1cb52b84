package waits

import "slackline/model/timeline"

var windowFree = kind{
	Info: Info{
		Name:    "win_free",
		Title:   "Wait at window release",
		Short:   "waits for the others while a window is freed",
		Because: "%s came last",
		Meaning: "Time in MPI_Win_free before the last process of the window entered it, if all were inside at one instant. " +
			"The cause is the last to enter.",
		Advice: "Free windows at the end of the run; balance the work before.",
		Color:  Color{"#6E7F9B", "#9AAAC6"},
	},
	precedence:  collectiveNext,
	collectives: []collective{held(timeline.ByWindow, timeline.OpDestroyHandle, timeline.OpDeallocate, timeline.OpDestroyHandleDeallocate)},
}
