package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCalendar calls every host in its windows, however far they are, and in no others; the calendars are dealt anew
// from time to time.
func TestCalendar(t *testing.T) {
	const hosts, width, steps = 100, 7, 40_000
	r := rand.New(rand.NewPCG(1, 2))
	split, whole := dealHosts(hosts, 3), dealHosts(hosts, 1)
	owners := &split
	cals := make([]*calendar, 3)
	for i := range cals {
		cals[i] = newCalendar(hosts, width)
	}
	due := map[int64][]int32{}
	add := func(window int64, host int32) {
		if !slices.Contains(due[window], host) {
			due[window] = append(due[window], host)
		}
		cals[owners.owner(host)].wake(host, window*width+r.Int64N(width))
	}
	add(1, 0)
	for window, step := int64(0), 0; len(due) > 0; step++ {
		next := never
		for _, c := range cals {
			next = min(next, c.next())
		}
		if next <= window || next == never {
			t.Fatalf("step %d: window %d after %d", step, next, window)
		}
		var called []int32
		window = next
		for _, c := range cals {
			if c.next() == window {
				c.advance(window)
				c.now.drain(func(host int32) { called = append(called, host) })
			}
		}
		slices.Sort(called)
		want := slices.Sorted(slices.Values(due[window]))
		if !slices.Equal(called, want) {
			t.Fatalf("step %d, window %d: hosts %v, want %v", step, window, called, want)
		}
		delete(due, window)
		if step%100 == 99 {
			if owners = &split; step%200 == 199 {
				owners = &whole
			}
			alignCalendars(cals)
			dealCalendars(cals, owners)
		}
		for range 3 {
			if step < steps && len(due) < 300 {
				add(window+1+r.Int64N(int64(1)<<r.IntN(24)), int32(r.IntN(hosts)))
			}
		}
	}
}
