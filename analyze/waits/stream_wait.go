package waits

var streamWait = kind{
	Info: Info{
		Name:    "stream_wait",
		Title:   "Stream waits for stream",
		Short:   "waits on a stream for copies, communication or another device",
		Who:     "Compute streams of rank %d waited",
		Because: "copies, communication or another device of %s were not done",
		Meaning: "Time in which a compute kernel was ready but held back by an event until a copy, communication or work on another device had ended, while its " +
			"device computed nothing else. It is charged to what was waited for. A kernel that waits for compute kernels of its own device does not wait: the device works.",
		Advice: "Start copies and communication earlier, split them, or give the device independent work meanwhile.",
		Color:  Color{"#2E9C6B", "#5FC596"},
	},
	precedence: deviceLast,
	inside:     true,
}
