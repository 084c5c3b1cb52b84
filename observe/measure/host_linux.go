package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Surroundings are reasons why times on this host are not those of a quiet machine of its own, when
// so many processes of a measurement run on it.
func Surroundings(processes int) []string { return surroundings("/", processes, CPUs()) }

// surroundings looks at the files of the kernel below root.
func surroundings(root string, processes int, cpus []int) []string {
	var list []string
	if virtual(root) {
		list = append(list, "this machine is virtual: what the host takes looks like slow messages and slow clocks")
	}
	switch load := loadAverage(root); {
	case load < 0:
		list = append(list, "whether other processes run is not known: /proc/loadavg cannot be read")
	case load > 0.5:
		list = append(list, fmt.Sprintf("the machine was loaded before the measurement: %.1f processes on average", load))
	}
	if len(cpus) == 0 {
		list = append(list, "which CPUs may be used is not known: the kernel does not report the affinity of this process")
	} else if processes > len(cpus) {
		list = append(list, fmt.Sprintf("%d processes share %d CPUs: times contain waiting for a CPU", processes, len(cpus)))
	}
	if w := frequencies(root, cpus); w != "" {
		list = append(list, w)
	}
	return list
}

// frequencies reports whether the CPUs may change their frequency. A virtual machine has no control over it, and no files.
func frequencies(root string, cpus []int) string {
	var governors []string
	for _, cpu := range cpus {
		path := filepath.Join(root, "sys/devices/system/cpu", fmt.Sprintf("cpu%d", cpu), "cpufreq/scaling_governor")
		data, err := os.ReadFile(path)
		if os.IsPermission(err) {
			return "whether the frequency of the CPUs changes is not known: " + path + " may not be read"
		}
		if g := strings.TrimSpace(string(data)); err == nil && g != "performance" && !slices.Contains(governors, g) {
			governors = append(governors, g)
		}
	}
	if len(governors) == 0 {
		return ""
	}
	return fmt.Sprintf("the frequency of the CPUs may change (governor %s)", strings.Join(governors, ", "))
}
