package counters

import "golang.org/x/sys/unix"

func hardware(name string, config uint64) Event {
	return Event{Name: name, Type: unix.PERF_TYPE_HARDWARE, Config: config}
}

func software(name, unit string, config uint64, kernel bool) Event {
	return Event{Name: name, Unit: unit, Type: typeSoftware, Config: config, Kernel: kernel}
}

func cache(name string, level, result uint64) Event {
	return Event{Name: name, Type: unix.PERF_TYPE_HW_CACHE, Config: level | unix.PERF_COUNT_HW_CACHE_OP_READ<<8 | result<<16}
}

// events is the table of all events.
var events = []Event{
	hardware("instructions", unix.PERF_COUNT_HW_INSTRUCTIONS),
	hardware("cycles", unix.PERF_COUNT_HW_CPU_CYCLES),
	hardware("ref-cycles", unix.PERF_COUNT_HW_REF_CPU_CYCLES),
	hardware("cache-references", unix.PERF_COUNT_HW_CACHE_REFERENCES),
	hardware("cache-misses", unix.PERF_COUNT_HW_CACHE_MISSES),
	hardware("branches", unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
	hardware("branch-misses", unix.PERF_COUNT_HW_BRANCH_MISSES),
	hardware("bus-cycles", unix.PERF_COUNT_HW_BUS_CYCLES),
	hardware("stalled-cycles-frontend", unix.PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
	hardware("stalled-cycles-backend", unix.PERF_COUNT_HW_STALLED_CYCLES_BACKEND),
	cache("L1-dcache-loads", unix.PERF_COUNT_HW_CACHE_L1D, unix.PERF_COUNT_HW_CACHE_RESULT_ACCESS),
	cache("L1-dcache-load-misses", unix.PERF_COUNT_HW_CACHE_L1D, unix.PERF_COUNT_HW_CACHE_RESULT_MISS),
	cache("LLC-loads", unix.PERF_COUNT_HW_CACHE_LL, unix.PERF_COUNT_HW_CACHE_RESULT_ACCESS),
	cache("LLC-load-misses", unix.PERF_COUNT_HW_CACHE_LL, unix.PERF_COUNT_HW_CACHE_RESULT_MISS),
	cache("dTLB-loads", unix.PERF_COUNT_HW_CACHE_DTLB, unix.PERF_COUNT_HW_CACHE_RESULT_ACCESS),
	cache("dTLB-load-misses", unix.PERF_COUNT_HW_CACHE_DTLB, unix.PERF_COUNT_HW_CACHE_RESULT_MISS),
	software("task-clock", "ns", unix.PERF_COUNT_SW_TASK_CLOCK, false),
	software("page-faults", "", unix.PERF_COUNT_SW_PAGE_FAULTS, false),
	software("minor-faults", "", unix.PERF_COUNT_SW_PAGE_FAULTS_MIN, false),
	software("major-faults", "", unix.PERF_COUNT_SW_PAGE_FAULTS_MAJ, false),
	software("context-switches", "", unix.PERF_COUNT_SW_CONTEXT_SWITCHES, true),
	software("cpu-migrations", "", unix.PERF_COUNT_SW_CPU_MIGRATIONS, true),
}

// Probe tries to count an event on this host, as the recorder does.
func (e Event) Probe() error {
	attr := unix.PerfEventAttr{Type: e.Type, Config: e.Config, Size: unix.PERF_ATTR_SIZE_VER0, Bits: unix.PerfBitExcludeHv}
	if !e.Kernel {
		attr.Bits |= unix.PerfBitExcludeKernel
	}
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}
