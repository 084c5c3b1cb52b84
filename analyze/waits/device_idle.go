package waits

var deviceIdle = kind{
	Info: Info{
		Name:    "device_idle",
		Title:   "Idle device",
		Short:   "is idle on a device until the next launch",
		Who:     "Devices of rank %d were idle for",
		Because: "the host of %s launched the next kernel late",
		Meaning: "Time of a device on which nothing runs, since its last activity ended, until the call begins that launches the next one. The rest up to the " +
			"start of that activity is latency, not waiting. It is charged to what the launching thread did meanwhile, or, through its waits, to other ranks.",
		Advice: "Launch earlier: let the host run ahead of the device, avoid synchronization and host work between kernels, join small kernels, use graphs.",
		Color:  Color{"#8A5FB5", "#B48CDC"},
	},
	precedence: deviceLast,
	inside:     true,
}
