package waits

import (
	"slackline/model/timeline"
)

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

var commCreate = kind{
	Info: Info{
		Name:    "comm_create",
		Title:   "Wait at communicator creation",
		Short:   "waits for the others while a communicator is made",
		Because: "%s came last",
		Meaning: "Time in a call that makes a communicator (MPI_Comm_dup, MPI_Comm_split, MPI_Cart_create, MPI_Comm_spawn, " +
			"MPI_Comm_accept) before the last member entered its call, if all were inside at one instant. The cause is " +
			"the last to enter.",
		Advice: "Make communicators once and keep them; balance the work before, or use MPI_Comm_idup.",
		Color:  Color{"#5A6B3B", "#8FA563"},
	},
	precedence:  collectiveNext,
	collectives: []collective{held(timeline.ByComm, timeline.OpCreateHandle), held(timeline.ByConnection, timeline.OpCreateHandle)},
}

var collectiveIO = kind{
	Info: Info{
		Name:    "collective_io",
		Title:   "Wait at collective I/O",
		Short:   "waits for the others in collective I/O",
		Because: "%s came last",
		Meaning: "Time in a collective operation on a file (MPI_File_open, MPI_File_write_all, MPI_File_close), or in the call " +
			"that completes it, before the last process entered it, if all were inside at one instant. The cause is the " +
			"last to enter.",
		Advice: "Balance the work before the operation; use its split or non-blocking form (MPI_File_iwrite_all) " +
			"and work before it is completed.",
		Color: Color{"#8A5A44", "#BD8A70"},
	},
	precedence:  collectiveNext,
	collectives: []collective{held(timeline.ByFile, timeline.OpCreateHandle, timeline.OpBarrier, timeline.OpDestroyHandle)},
}
