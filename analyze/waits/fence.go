package waits

import "slackline/model/timeline"

var fence = kind{
	Info: Info{
		Name:    "fence",
		Title:   "Wait at fence",
		Short:   "waits at a fence of one-sided communication",
		Because: "%s came last",
		Meaning: "Time in MPI_Win_fence before the last process of the window entered it, if all were inside at one instant; a " +
			"fence that let some pass does not wait. The cause is the last to enter.",
		Advice: "Balance the work between fences, or synchronize only those that exchange data (MPI_Win_post, MPI_Win_start).",
		Color:  Color{"#2F7E9E", "#57A9C9"},
	},
	precedence:  collectiveNext,
	collectives: []collective{held(timeline.ByWindow, timeline.OpBarrier)},
}
