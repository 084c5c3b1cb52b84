package waits

var earlyReduce = kind{
	Info: Info{
		Name:    "early_reduce",
		Title:   "Early reduce",
		Short:   "waits as the root for the first data",
		Because: "%s, the last to send, came late",
		Meaning: "Time of the root in a collective that collects data (MPI_Reduce, MPI_Gather) before the first sender entered it: before that nothing " +
			"could have arrived. The cause is the last sender. The rest of the wait is late_contributor.",
		Advice: "Balance the work before the collective, or let the root work while it waits (MPI_Ireduce, MPI_Igather).",
		Color:  Color{"#F0C419", "#F0E05A"},
	},
	precedence: collectiveNext,
}
