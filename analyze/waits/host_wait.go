package waits

var hostWait = kind{
	Info: Info{
		Name:    "host_wait",
		Title:   "Host waits for device",
		Short:   "waits on the host for work on a device",
		Who:     "Host threads of rank %d waited",
		Because: "the device of %s was not done",
		Meaning: "Time of a host thread in a call that synchronizes with a stream, an event or a device (cudaStreamSynchronize, hipDeviceSynchronize), or in a " +
			"blocking copy, until what it waits for has ended. It is charged to what went on meanwhile: the kernels and copies that ran, the launches that " +
			"were late, or, through waits of kernels, other ranks.",
		Advice: "Let the host work while the device does: synchronize later or not at all, use asynchronous copies from pinned memory, make the kernels that cost most faster.",
		Color:  Color{"#3B6FB6", "#6E9BDB"},
	},
	precedence: deviceLast,
	inside:     true,
}
