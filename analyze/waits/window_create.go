package waits

import "slackline/model/timeline"

var windowCreate = kind{
	Info: Info{
		Name:    "win_create",
		Title:   "Wait at window creation",
		Short:   "waits for the others while a window is created",
		Because: "%s came last",
		Meaning: "Time in MPI_Win_create and its relatives before the last process of the window entered the call, if all were " +
			"inside at one instant. The cause is the last to enter.",
		Advice: "Create windows once and keep them; balance the work before.",
		Color:  Color{"#4C6A92", "#7FA3D1"},
	},
	precedence:  collectiveNext,
	collectives: []collective{held(timeline.ByWindow, timeline.OpCreateHandle, timeline.OpAllocate, timeline.OpCreateHandleAllocate)},
}
