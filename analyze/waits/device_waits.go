package waits

var hostWait = kind{
	Info: Info{
		Name:    "host_wait",
		Title:   "Host waits for device",
		Short:   "waits on the host for work on a device",
		Who:     "Host threads of rank %d waited",
		Because: "the device of %s was not done",
		Meaning: "Time of a host thread in a call that synchronizes with a stream, an event or a device (cudaStreamSynchronize, " +
			"hipDeviceSynchronize), or in a blocking copy, until what it waits for has ended. It is charged to what went on meanwhile: " +
			"the kernels and copies that ran, the launches that were late, or, through waits of kernels, other ranks.",
		Advice: "Let the host work while the device does: synchronize later or not at all, use asynchronous copies from pinned memory, make " +
			"the kernels that cost most faster.",
		Color: Color{"#3B6FB6", "#6E9BDB"},
	},
	precedence: deviceLast,
	inside:     true,
}

var deviceIdle = kind{
	Info: Info{
		Name:    "device_idle",
		Title:   "Idle device",
		Short:   "is idle on a device until the next launch",
		Who:     "Devices of rank %d were idle for",
		Because: "the host of %s launched the next kernel late",
		Meaning: "Time of a device on which nothing runs, since its last activity ended, until the call begins that launches the next " +
			"one. The rest up to the start of that activity is latency, not waiting. It is charged to what the launching thread did " +
			"meanwhile, or, through its waits, to other ranks.",
		Advice: "Launch earlier: let the host run ahead of the device, avoid synchronization and host work between kernels, join small " +
			"kernels, use graphs.",
		Color: Color{"#8A5FB5", "#B48CDC"},
	},
	precedence: deviceLast,
	inside:     true,
}

var streamWait = kind{
	Info: Info{
		Name:    "stream_wait",
		Title:   "Stream waits for stream",
		Short:   "waits on a stream for copies, communication or another device",
		Who:     "Compute streams of rank %d waited",
		Because: "copies, communication or another device of %s were not done",
		Meaning: "Time in which a compute kernel was ready but held back by an event until a copy, communication or work on another " +
			"device had ended, while its device computed nothing else. It is charged to what was waited for. A kernel that waits for " +
			"compute kernels of its own device does not wait: the device works.",
		Advice: "Start copies and communication earlier, split them, or give the device independent work meanwhile.",
		Color:  Color{"#2E9C6B", "#5FC596"},
	},
	precedence: deviceLast,
	inside:     true,
}
