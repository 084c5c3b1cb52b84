//go:build quiet

package simulate

import (
	"context"
	"runtime"
	"testing"
	"time"

	"slackline/internal/stat"
)

// TestThreadsAreNeverSlower measures the table "Engines by threads" of docs/performance.md: no number of threads up to that of
// the CPUs is more than 5 % slower than one thread, and the median of two is at least 1.25 times as fast.
func TestThreadsAreNeverSlower(t *testing.T) {
	var gains []float64
	for _, a := range applications() {
		t.Run(a.String(), func(t *testing.T) {
			for n := 2; n <= runtime.NumCPU(); n *= 2 {
				gain, slower := a.gain(t, n)
				if slower {
					t.Errorf("%d threads take %.2f times as long as one, want at most %.2f", n, 1/gain, mostSlower)
				}
				if n == 2 {
					gains = append(gains, gain)
				}
			}
		})
	}
	if len(gains) == 0 {
		t.Fatal("one CPU")
	}
	gains = stat.Sorted(gains)
	t.Logf("median %.2f, min %.2f", stat.Quantile(gains, 0.5), gains[0])
	if stat.Quantile(gains, 0.5) < 1.25 {
		t.Error("want a median of at least 1.25")
	}
}

const (
	// mostSlower is how many times as long as one thread others may take.
	mostSlower = 1.05
	// enough is how long one thread is measured at first, plenty how long if the threads look slower, unless there are manyPairs before.
	enough, plenty, manyPairs = 2 * time.Second, 30 * time.Second, 31
)

// gain returns how many times as fast as one thread n are: the median of the ratios of pairs of runs that follow each other. The
// speed of a machine changes by 20 to 30 % within minutes; it is nearly the same for the runs of a pair, whereas the best runs
// of either side may be of different times. A program that is beyond the limit after two pairs is measured again, up to 7
// pairs, and then up to 15 or more. Even then equal runs may seem 5 % slower: single pairs of them scatter by 10 to 30 %. So
// the threads are slower if the whole interval that has the median with 95 % is beyond the limit.
func (a application) gain(t *testing.T, n int) (gain float64, slower bool) {
	t.Helper()
	var one, ratios []float64
	sum := time.Duration(0)
	for _, least := range []struct {
		pairs int
		time  time.Duration
	}{{2, enough}, {7, enough}, {15, plenty}} {
		for len(ratios) < least.pairs || sum < least.time && len(ratios) < manyPairs {
			threads := []int{1, n}
			if len(ratios)%2 > 0 {
				threads = []int{n, 1}
			}
			took := map[int]time.Duration{}
			for _, k := range threads {
				p, m, in := a.problem(t)
				runtime.GC()
				began := time.Now()
				if _, err := Run(context.Background(), p, m, Options{Threads: k, Noise: in}); err != nil {
					t.Fatal(err)
				}
				took[k] = time.Since(began)
			}
			sum += took[1]
			one = append(one, took[1].Seconds())
			ratios = append(ratios, float64(took[1])/float64(took[n]))
		}
		if gain = stat.Quantile(stat.Sorted(ratios), 0.5); gain >= 1/mostSlower {
			break
		}
	}
	t.Logf("one thread %.3f s, %d threads %.2f times as fast: %.2f", stat.Quantile(stat.Sorted(one), 0.5), n, gain, ratios)
	_, high, ok := stat.MedianInterval(len(ratios))
	return gain, ok && stat.Sorted(ratios)[high] < 1/mostSlower
}
