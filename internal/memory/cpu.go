package memory

import "time"

// CPU is the CPU time that this process has taken, 0 if the system does not report it. Benchmarks report rates by it, which other work on
// the machine changes little.
func CPU() time.Duration {
	_, cpu, _ := Used()
	return cpu
}
