package waits

import "slackline/model/timeline"

var collectiveIO = kind{
	Info: Info{
		Name:    "collective_io",
		Title:   "Wait at collective I/O",
		Short:   "waits for the others in collective I/O",
		Because: "%s came last",
		Meaning: "Time in a collective operation on a file (MPI_File_open, MPI_File_write_all, MPI_File_close), or in the call " +
			"that completes it, before the last process entered it, if all were inside at one instant. The cause is the " +
			"last to enter.",
		Advice: "Balance the work before the operation; use its split or non-blocking form (MPI_File_iwrite_all) and work before it is completed.",
		Color:  Color{"#8A5A44", "#BD8A70"},
	},
	precedence:  collectiveNext,
	collectives: []collective{held(timeline.ByFile, timeline.OpCreateHandle, timeline.OpBarrier, timeline.OpDestroyHandle)},
}
