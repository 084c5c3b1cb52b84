package measure

import (
	"fmt"
	"os"
	"strings"
)

// Surroundings are reasons why times on this host are not those of a quiet machine of its own, when
// so many processes of a measurement run on it.
func Surroundings(processes int) []string {
	var list []string
	if virtual() {
		list = append(list, "this machine is virtual: what the host takes looks like slow messages and slow clocks")
	}
	if load := loadAverage(); load > 0.5 {
		list = append(list, fmt.Sprintf("the machine was loaded before the measurement: %.1f processes on average", load))
	}
	if cpus := len(CPUs()); processes > cpus {
		list = append(list, fmt.Sprintf("%d processes share %d CPUs: times contain waiting for a CPU", processes, cpus))
	}
	governor, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	if g := strings.TrimSpace(string(governor)); err == nil && g != "performance" {
		list = append(list, fmt.Sprintf("the frequency of the CPUs may change (governor %s)", g))
	}
	return list
}
