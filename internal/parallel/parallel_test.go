package parallel

import (
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
