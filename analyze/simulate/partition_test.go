package simulate

import (
	"testing"
)

func TestDealGivesEveryHostToOneThread(t *testing.T) {
	for _, hosts := range []int{1, 2, 7, 64, 100, 1000, 8192, 9216, 100_003} {
		for _, threads := range []int{1, 2, 3, 8, 16, 100} {
			d := dealHosts(hosts, threads)
			if want := min(hosts, threads); d.threads != want {
				t.Fatalf("%d hosts on %d threads: %d, want %d", hosts, threads, d.threads, want)
			}
			seen := make([]bool, hosts)
			for thread := range d.threads {
				n, last := 0, int32(-1)
				d.each(thread, func(h int32) {
					if d.owner(h) != thread || seen[h] || h <= last {
						t.Fatalf("%d hosts on %d threads: host %d of thread %d is also of %d", hosts, threads, h, thread, d.owner(h))
					}
					seen[h], last = true, h
					n++
				})
				// A granule more or less in each range.
				if least := hosts/d.threads - rangesPerThread<<d.shift; n < max(least, 1) {
					t.Errorf("%d hosts on %d threads: thread %d has %d", hosts, threads, thread, n)
				}
			}
			for h := range seen {
				if !seen[h] {
					t.Fatalf("%d hosts on %d threads: nobody has host %d", hosts, threads, h)
				}
			}
		}
	}
}
