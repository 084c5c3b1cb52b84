//go:build quiet

package simulate

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"
)

// TestThreadsAreNeverSlower measures the table "Engines by threads" of docs/performance.md: no number of threads up to that of
// the CPUs is more than 5 % slower than one thread, and the median of two is at least 1.25 times as fast. The best of
// at least two runs count, with numbers of threads that take turns.
func TestThreadsAreNeverSlower(t *testing.T) {
	threads := []int{1}
	for n := 2; n <= runtime.NumCPU(); n *= 2 {
		threads = append(threads, n)
	}
	if len(threads) == 1 {
		t.Fatal("one CPU")
	}
	var gains []float64
	for _, a := range applications() {
		best := make([]time.Duration, len(threads))
		slower := true
		for round := 0; round < 2 || slower && round < 6; round++ {
			for i, n := range threads {
				p, m, in := a.problem(t)
				runtime.GC()
				began := time.Now()
				if _, err := Run(context.Background(), p, m, Options{Threads: n, Noise: in}); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); round == 0 || took < best[i] {
					best[i] = took
				}
			}
			slower = slices.Max(best[1:]) > best[0]*105/100
		}
		gains = append(gains, float64(best[0])/float64(best[1]))
		t.Logf("%v: %v on %v threads, two %.2f times as fast", a, best, threads, gains[len(gains)-1])
		if slower {
			t.Errorf("%v: more threads are more than 5 %% slower than one", a)
		}
	}
	slices.Sort(gains)
	n := len(gains)
	if median := (gains[n/2] + gains[(n-1)/2]) / 2; median < 1.25 {
		t.Errorf("the median of two threads is %.2f times one, want 1.25", median)
	} else {
		t.Logf("median %.2f, min %.2f", median, gains[0])
	}
}
