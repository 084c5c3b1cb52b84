package parallel

import (
	"fmt"
	"sync/atomic"
	"testing"
)

func TestEachVisitsAllOnce(t *testing.T) {
	for _, threads := range []int{0, 1, 3, 50} {
		visits := make([]atomic.Int32, 17)
		Each(len(visits), threads, func(i int) { visits[i].Add(1) })
		for i := range visits {
			if got := visits[i].Load(); got != 1 {
				t.Errorf("threads %d: %d was visited %d times, want once", threads, i, got)
			}
		}
	}
}

func TestWorkersAreAlone(t *testing.T) {
	const threads = 4
	var busy [threads]atomic.Bool
	EachWorker(1000, threads, func(worker, _ int) {
		if !busy[worker].CompareAndSwap(false, true) {
			t.Errorf("worker %d does two things at the same time", worker)
		}
		busy[worker].Store(false)
	})
}

func TestChunksCoverAll(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 64} {
		visits := make([]atomic.Int32, n)
		Chunks(n, 8, 3, func(_, from, to int) {
			for i := from; i < to; i++ {
				visits[i].Add(1)
			}
		})
		for i := range visits {
			if got := visits[i].Load(); got != 1 {
				t.Errorf("of %d: %d was visited %d times, want once", n, i, got)
			}
		}
	}
}

// TestTry checks that all is done, and that the error of the smallest number is returned, whatever the number of threads.
func TestTry(t *testing.T) {
	for _, threads := range []int{1, 4} {
		var done atomic.Int32
		err := Try(50, threads, func(i int) error {
			if done.Add(1); i%7 == 6 {
				return fmt.Errorf("number %d", i)
			}
			return nil
		})
		if err == nil || err.Error() != "number 6" || done.Load() != 50 {
			t.Errorf("%d threads: %v after %d, want number 6 after 50", threads, err, done.Load())
		}
		if err := Try(50, threads, func(int) error { return nil }); err != nil {
			t.Errorf("%d threads: %v, want no error", threads, err)
		}
	}
}
