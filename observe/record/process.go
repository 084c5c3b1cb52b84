package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"slackline/model/state"
)

// statusOf tells what became of the process that writes a file. Of one on another host only the file tells.
func statusOf(head *rawHead, events string) state.Status {
	switch {
	case head.closed == rawClosed:
		return state.Finished
	case head.exited:
		return state.Exited
	case !isHere(head):
		return state.Running
	}
	letter, started, ok := processOf(head.pid)
	// The file is older than a process that got its number later; if the machine has slept, its clocks differ and the mapping decides.
	if !ok || started > head.start && !hasMapped(head.pid, events) {
		return state.Gone
	}
	switch letter {
	case 'T', 't':
		return state.Stopped
	case 'Z', 'X':
		return state.Gone
	}
	return state.Running
}

// thisHost is the name of this host, and what tells its present start from others.
var thisHost = sync.OnceValues(func() (host, boot string) {
	host, _ = os.Hostname()
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return host, strings.TrimSpace(string(text))
})

// isHere reports whether a file was written on this host, since it was started.
func isHere(head *rawHead) bool {
	host, boot := thisHost()
	return head.host == host && (boot == "" || boot == head.boot)
}

// processOf is the state of a process, as the system calls it, and when it was started, in ns after the start of the machine.
func processOf(pid int) (letter byte, started int64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	end := bytes.LastIndexByte(text, ')') // the name may contain anything
	if err != nil || end < 0 {
		return 0, 0, false
	}
	const startTime, ticks = 19, 1e9 / 100 // of the fields after the name; ns in a tick of the interface
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) <= startTime {
		return 0, 0, false
	}
	n, err := strconv.ParseInt(fields[startTime], 10, 64)
	return fields[0][0], n * ticks, err == nil
}

// hasMapped reports whether a process has a file mapped.
func hasMapped(pid int, file string) bool {
	path, err := filepath.Abs(file)
	if err != nil {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	return err == nil && bytes.Contains(text, []byte(path))
}

// clocks are the times on the clocks of the hosts. On another host, and after the end of a run, it is that of the last record there.
type clocks struct {
	hosts map[string]int64
}

func newClocks(ranks []*rankNow) *clocks {
	c := &clocks{hosts: map[string]int64{}}
	for _, n := range ranks {
		if n == nil {
			continue
		}
		head := n.files[0].head
		for _, t := range n.threads {
			c.hosts[head.boot+head.host] = max(c.hosts[head.boot+head.host], t.last)
		}
		var now unix.Timespec
		if isHere(head) && (n.status == state.Running || n.status == state.Stopped) && unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) == nil {
			c.hosts[head.boot+head.host] = max(c.hosts[head.boot+head.host], now.Nano())
		}
	}
	return c
}

func (c *clocks) of(head *rawHead) int64 { return c.hosts[head.boot+head.host] }
