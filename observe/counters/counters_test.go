package counters

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestParse(t *testing.T) {
	list, err := Parse([]string{"task-clock", " Cycles", "instructions", "cycles"})
	if got := NamesOf(list); err != nil || !slices.Equal(got, []string{"cycles", "instructions", "task-clock"}) {
		t.Errorf("Parse = %v, %v, want each event once, those of the processor first", got, err)
	}
	if _, err := Parse([]string{"cache-mises"}); err == nil || !strings.Contains(err.Error(), "did you mean cache-misses?") {
		t.Errorf("a misspelt name: %v", err)
	}
	if _, err := Parse(Names()); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("all events: %v, want that they are too many", err)
	}
	if list, err := Parse(nil); err != nil || len(list) != 0 {
		t.Errorf("nothing: %v, %v", list, err)
	}
}

func TestRefusal(t *testing.T) {
	for _, tc := range []struct {
		name string
		why  syscall.Errno
		want string
	}{
		{"cycles", syscall.ENOENT, "PMU"},
		{"cycles", syscall.EACCES, "kernel.perf_event_paranoid=2"},
		{"context-switches", syscall.EACCES, "kernel.perf_event_paranoid=1"},
		{"cycles", syscall.EINVAL, "too few counters"},
		{"cycles", syscall.EMFILE, syscall.EMFILE.Error()},
	} {
		if got := Refusal([]string{tc.name}, tc.why); !strings.HasPrefix(got, tc.name+" cannot be counted: ") || !strings.Contains(got, tc.want) {
			t.Errorf("Refusal(%s, %v) = %q, want %q in it", tc.name, tc.why, got, tc.want)
		}
	}
}

// TestHere wants every event to be counted or refused with a reason. The clock of a task needs no hardware.
func TestHere(t *testing.T) {
	p := Here()
	refused := strings.Join(p.Refused, "\n")
	for _, name := range Names() {
		if slices.Contains(p.Events, name) == strings.Contains(refused+",", name+",") && !strings.Contains(refused, name+" cannot") {
			t.Errorf("%s is neither counted nor refused, or both: %v", name, p)
		}
	}
	if len(p.Events) == 0 && !strings.Contains(refused, "perf") {
		t.Errorf("nothing can be counted, and the reason is %q", refused)
	}
}
