package inject

import (
	"fmt"
	"strings"
	"testing"

	"slackline/model/unit"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestHandshake wants large messages to be three, each late by the latency: with a receive that was posted early the sender is
// done after two latencies and the receiver after three, with a late one after one and two more. What load does is
// never early, and not very late each of nine times.
func TestHandshake(t *testing.T) {
	const latency, repetitions = 20 * unit.Millisecond, 3
	ns := int64(latency / unit.Nanosecond)
	limit := unit.Size(500)
	mpitest.Both(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "handshake.c")
		for _, c := range []struct {
			bytes int
			eager *unit.Size
			large bool
		}{{100_000, nil, true}, {1000, &limit, true}, {100, nil, false}, {100, &limit, false}} {
			o := Options{Base: -1, Eager: c.eager, Sleep: "on", Command: []string{fmt.Sprint(ns), fmt.Sprint(repetitions), fmt.Sprint(c.bytes)}}
			r := oneOfNine(t, l, program, o, latency.String(), func(r *injected) string { return checkHandshakes(t, r.stdout, ns, c.large) })
			if r.Eager == nil || *r.Eager < 100 || *r.Eager >= 100_000 || c.eager != nil && *r.Eager != 500 {
				t.Errorf("%d bytes: the limit of eager messages is %v", c.bytes, r.Eager)
			}
		}
	})
}

// checkHandshakes wants nothing to be early, and returns what may be due to load.
func checkHandshakes(t *testing.T, text string, ns int64, large bool) (wrong string) {
	t.Helper()
	const columns = 12 // sender and receiver, early and late, blocking, non-blocking, persistent
	least, longest := [columns]int64{}, [columns]int64{}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		fields := strings.Fields(line)
		if len(fields) != columns {
			t.Fatalf("%q: %d fields", line, len(fields))
		}
		for k, f := range fields {
			var v int64
			if _, err := fmt.Sscan(f, &v); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if i == 0 {
				least[k], longest[k] = v, v
			}
			least[k], longest[k] = min(least[k], v), max(longest[k], v)
		}
	}
	want := []int64{2 * ns, 3 * ns, 4 * ns, 5 * ns}
	if !large {
		want = []int64{0, ns, 0, 3 * ns}
	}
	for k := range columns {
		w := want[k%4]
		switch sometimesEarly := k > 3 && k%4 == 2; {
		// A non-blocking send whose receive is late may be matched before the sender looks: then it is not held for that.
		case sometimesEarly && longest[k] < w:
			wrong = fmt.Sprintf("column %d of\n%s\n: each time earlier than %d ns", k, text, w)
		case !sometimesEarly && least[k] < w:
			t.Errorf("column %d of\n%s\n: earlier than %d ns", k, text, w)
		}
		// Two latencies more would be another handshake; late receives need more luck on a busy machine. A small message to
		// a late receiver may wait for it in the MPI, too.
		most := w + 2*ns
		if k%4 > 1 {
			most += 2 * ns
		}
		if least[k] >= most && (large || k%4 != 2) {
			wrong = fmt.Sprintf("column %d of\n%s\n: never before %d ns", k, text, most)
		}
	}
	return wrong
}
