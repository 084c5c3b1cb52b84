// Package counters knows what the processor and the kernel can count for a thread: perf events by the names that perf has for them.
//
// Events of the processor are counted in user mode only, which the kernel permits to everybody by default, and which is what the factors
// of POP are made of.
package counters

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"slackline/internal/suggest"
)

// Event is something that can be counted.
type Event struct {
	Name, Unit string
	Type       uint32 // as in perf_event_open(2)
	Config     uint64
	Kernel     bool // it happens in the kernel
}

const typeSoftware = 1 // PERF_TYPE_SOFTWARE

// Most is how many events can be counted at once.
const Most = 16

// Default are the names of the events that the factors of POP need.
var Default = []string{"instructions", "cycles"}

// Names are the names of all events.
func Names() []string { return NamesOf(events) }

// NamesOf are the names of events.
func NamesOf(events []Event) []string {
	var list []string
	for _, e := range events {
		list = append(list, e.Name)
	}
	return list
}

// Parse finds events by their names, each once; those of the processor come first, because they lead the group.
func Parse(names []string) ([]Event, error) {
	var list []Event
	for _, name := range names {
		i := slices.IndexFunc(events, func(e Event) bool { return strings.EqualFold(e.Name, strings.TrimSpace(name)) })
		if i < 0 {
			return nil, fmt.Errorf("there is no event %q%s; known are %s", name, suggest.Phrase(name, Names()), strings.Join(Names(), ", "))
		}
		if !slices.Contains(list, events[i]) {
			list = append(list, events[i])
		}
	}
	slices.SortStableFunc(list, func(a, b Event) int { return order(a) - order(b) })
	if len(list) > Most {
		return nil, fmt.Errorf("%d events are too many: at most %d can be counted at once", len(list), Most)
	}
	return list, nil
}

func order(e Event) int {
	if e.Type == typeSoftware {
		return 1
	}
	return 0
}

// Refusal says why some events are not counted, and what helps.
func Refusal(names []string, why syscall.Errno) string {
	text := strings.Join(names, ", ") + " cannot be counted: "
	switch why {
	case unix.ENOENT, unix.EOPNOTSUPP, unix.ENODEV, unix.ENXIO:
		return text + "the machine offers no such hardware counter; a virtual machine has them only if its host passes the PMU on " +
			"(task-clock and page-faults are always there)"
	case unix.EACCES, unix.EPERM:
		level := "2"
		if slices.ContainsFunc(events, func(e Event) bool { return e.Kernel && slices.Contains(names, e.Name) }) {
			level = "1"
		}
		return text + "the kernel does not permit it; set 'sysctl kernel.perf_event_paranoid=" + level + "' or lower" + paranoid() +
			", and in a container permit perf_event_open (CAP_PERFMON)"
	case unix.EINVAL:
		return text + "the processor has too few counters for all these events at once; record fewer of them"
	case unix.ENOSYS:
		return text + "this kernel has no perf events"
	}
	return text + why.Error()
}

// paranoid tells the setting of this host.
func paranoid() string {
	text, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return ""
	}
	return " (it is " + strings.TrimSpace(string(text)) + " on this host)"
}

// Possible is what can be counted on a host.
type Possible struct {
	Events  []string `json:"events"`            // that are counted
	Refused []string `json:"refused,omitempty"` // sentences: which are not, why, and what helps
}

// Here tries all events on this host.
func Here() Possible {
	p := Possible{Events: []string{}}
	refused := map[syscall.Errno][]string{}
	var order []syscall.Errno
	for _, e := range events {
		var why syscall.Errno
		if err := e.Probe(); err == nil {
			p.Events = append(p.Events, e.Name)
			continue
		} else if n, ok := err.(syscall.Errno); ok {
			why = n
		}
		if refused[why] == nil {
			order = append(order, why)
		}
		refused[why] = append(refused[why], e.Name)
	}
	for _, why := range order {
		p.Refused = append(p.Refused, Refusal(refused[why], why))
	}
	return p
}
