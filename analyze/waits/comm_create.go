package waits

import "slackline/model/timeline"

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
