// Package memory finds out how much memory a program may still take, so that it can
// refuse work that cannot fit instead of being killed in the middle of it.
package memory

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Available returns the bytes of memory that the system can still give, and
// whether it is known. Limits of a container count.
func Available() (int64, bool) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	free, ok := parseMeminfo(data)
	if !ok {
		return 0, false
	}
	limit, err1 := os.ReadFile("/sys/fs/cgroup/memory.max")
	used, err2 := os.ReadFile("/sys/fs/cgroup/memory.current")
	if err1 == nil && err2 == nil {
		if rest, ok := parseCgroup(limit, used); ok {
			free = min(free, rest)
		}
	}
	return free, true
}

// parseMeminfo finds the line MemAvailable, which is in KiB.
func parseMeminfo(data []byte) (int64, bool) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] != "MemAvailable:" {
			continue
		}
		n, err := strconv.ParseInt(fields[1], 10, 64)
		return n << 10, err == nil && n >= 0 && n < 1<<52
	}
	return 0, false
}

// parseCgroup returns what a limit leaves; false if there is no limit.
func parseCgroup(limit, used []byte) (int64, bool) {
	l, err1 := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64)
	u, err2 := strconv.ParseInt(strings.TrimSpace(string(used)), 10, 64)
	if err1 != nil || err2 != nil { // "max" means no limit
		return 0, false
	}
	return max(l-u, 0), true
}
