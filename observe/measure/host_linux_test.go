package measure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostTree is a root with the given files.
func hostTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestSurroundings(t *testing.T) {
	quiet := map[string]string{"proc/loadavg": "0.10 0.20 0.30 1/100 999\n", "proc/cpuinfo": "flags : fpu vme\n"}
	governor := "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"
	for _, tc := range []struct {
		name      string
		change    map[string]string
		processes int
		cpus      []int
		want      string
	}{
		{"quiet", nil, 2, []int{0, 1}, ""},
		{"loaded", map[string]string{"proc/loadavg": "3.50 1 1 1/1 1\n"}, 2, []int{0, 1}, "loaded before the measurement: 3.5 processes"},
		{"unreadable load", map[string]string{"proc/loadavg": ""}, 2, []int{0, 1}, "/proc/loadavg cannot be read"},
		{"virtual", map[string]string{"proc/cpuinfo": "flags : fpu hypervisor vme\n"}, 2, []int{0, 1}, "this machine is virtual"},
		{"crowded", nil, 3, []int{0, 1}, "3 processes share 2 CPUs"},
		{"no affinity", nil, 1, nil, "which CPUs may be used is not known"},
		{"frequency", map[string]string{governor: "powersave\n"}, 2, []int{0, 1}, "may change (governor powersave)"},
		{"fixed frequency", map[string]string{governor: "performance\n"}, 2, []int{0, 1}, ""},
	} {
		files := map[string]string{}
		for _, m := range []map[string]string{quiet, tc.change} {
			for k, v := range m {
				files[k] = v
			}
		}
		got := strings.Join(surroundings(hostTree(t, files), tc.processes, tc.cpus), "; ")
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestNoiseWarnings: what may be wrong with a measurement of noise is said with it.
func TestNoiseWarnings(t *testing.T) {
	good := CPUNoise{Duration: 1e12, Spread: []float64{15, 15}, Host: HostState{SignalsBlocked: true}}
	if list := good.Warnings(); len(list) != 0 {
		t.Errorf("%q", list)
	}
	for want, change := range map[string]func(*CPUNoise){
		"shared with other processes":     func(c *CPUNoise) { c.Host.InvoluntarySwitches = 50 },
		"is virtual":                      func(c *CPUNoise) { c.Host.Virtual = true },
		"the hypervisor took":             func(c *CPUNoise) { c.Host.Steal = 1e10 },
		"is not known: /proc/stat":        func(c *CPUNoise) { c.Host.Steal = -1 },
		"loaded before":                   func(c *CPUNoise) { c.Host.Load = 2 },
		"/proc/loadavg cannot be read":    func(c *CPUNoise) { c.Host.Load = -1 },
		"its frequency changes":           func(c *CPUNoise) { c.Spread = []float64{15, 30} },
		"could be interrupted by signals": func(c *CPUNoise) { c.Host.SignalsBlocked = false },
		"the record was full":             func(c *CPUNoise) { c.Full = true },
	} {
		c := good
		change(&c)
		if got := strings.Join(c.Warnings(), "; "); !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
